import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The Python 3 of this machine; undefined where there is none. */
export const python = ['python3', 'python'].find((name) => {
  try {
    return execFileSync(name, ['--version'], { encoding: 'utf8' }).startsWith('Python 3.');
  } catch {
    return false;
  }
});
if (!python) console.log('Not run: interoperability with Python clients, for there is no Python 3.');

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Packages of the configured index in a folder of their own, and the Python that sees them. */
export interface PythonEnvironment {
  /** Runs Python beside this process, which goes on answering; resolves when it has ended. */
  run(...arguments_: string[]): Promise<Finished>;
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
  return { run: (...arguments_) => finished(inside, arguments_), remove };
}

async function succeeded(program: string, ...arguments_: string[]): Promise<void> {
  const { code, err } = await finished(program, arguments_);
  if (code !== 0) throw new Error(`${arguments_.slice(0, 3).join(' ')}: ${err.slice(-2000)}`);
}

function finished(program: string, arguments_: readonly string[]): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, arguments_, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}
