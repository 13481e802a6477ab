import { spawn } from 'node:child_process';

/** A program that has ended. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** What a program may be run with. */
export interface RunOptions {
  readonly cwd?: string;
  /** Beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program beside this process, which goes on answering. */
export function finished(program: string, arguments_: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, arguments_, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.cwd,
      env: { ...process.env, ...options.environment },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** @throws with the end of what it complained of, unless the program ends well */
export async function succeeded(program: string, ...arguments_: string[]): Promise<void> {
  const { code, err } = await finished(program, arguments_);
  if (code !== 0) throw new Error(`${program} ${arguments_.slice(0, 3).join(' ')}: ${err.slice(-2000)}`);
}
