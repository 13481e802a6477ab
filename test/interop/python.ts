import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Finished, finished, type RunOptions, succeeded } from './finished.js';

/** How long the index may take to answer whether it is there. */
const INDEX_MS = 60_000;

const version = (name: string) => spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout ?? '';
const installed = ['python3', 'python'].find((name) => version(name).startsWith('Python 3.'));
const hasIndex = installed !== undefined && findsPackage(installed, 'cbor2');
if (!installed) console.log('Not run: interoperability with Python programs, for there is no Python 3.');
else if (!hasIndex) console.log('Not run: interoperability with Python programs, for pip finds no packages.');

/** The Python 3 of this machine; undefined where there is none, or none whose pip finds packages. */
export const python = hasIndex ? installed : undefined;
/** Its minor version; 0 where there is none. */
export const pythonMinor = python ? Number(/^Python 3\.(\d+)/.exec(version(python))?.[1]) : 0;

function findsPackage(name: string, wanted: string): boolean {
  const arguments_ = ['-m', 'pip', 'index', 'versions', wanted, '--retries', '0', '--timeout', '20'];
  return spawnSync(name, arguments_, { stdio: 'ignore', timeout: INDEX_MS }).status === 0;
}

/** Packages of the configured index in a folder of their own, and the Python that sees them. */
export interface PythonEnvironment {
  /** Path of the Python that sees them. */
  readonly python: string;
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
    python: inside,
    run: (...arguments_) => finished(inside, arguments_),
    runProgram: (name, arguments_, options) => finished(join(folder, 'bin', name), arguments_, options),
    remove,
  };
}
