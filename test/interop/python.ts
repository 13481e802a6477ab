import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Finished, finished, type RunOptions, succeeded } from './finished.js';

/** The Python 3 of this machine; undefined where there is none. */
export const python = ['python3', 'python'].find((name) => {
  try {
    return execFileSync(name, ['--version'], { encoding: 'utf8' }).startsWith('Python 3.');
  } catch {
    return false;
  }
});
/** Its minor version; 0 where there is none. */
export const pythonMinor = python
  ? Number(/^Python 3\.(\d+)/.exec(execFileSync(python, ['--version'], { encoding: 'utf8' }))?.[1])
  : 0;
if (!python) console.log('Not run: interoperability with Python clients, for there is no Python 3.');

/** Packages of the configured index in a folder of their own, and the Python that sees them. */
export interface PythonEnvironment {
  /** Runs Python beside this process, which goes on answering; resolves when it has ended. */
  run(...arguments_: string[]): Promise<Finished>;
  /** Runs a program that a package installs, by its name. */
  runProgram(name: string, arguments_: readonly string[], options?: RunOptions): Promise<Finished>;
  remove(): Promise<void>;
}

/** @throws when there is no Python, or a package cannot be installed */
export async function installPackages(...packages: string[]): Promise<PythonEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'archivist-python-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const inside = join(folder, 'bin', 'python');
  try {
    await succeeded(python!, '-m', 'venv', folder);
    await succeeded(inside, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    run: (...arguments_) => finished(inside, arguments_),
    runProgram: (name, arguments_, options) => finished(join(folder, 'bin', name), arguments_, options),
    remove,
  };
}
