import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const run = promisify(execFile);

/** A folder outside the repository, in which a test does what a stranger does. */
export interface EmptyFolder {
  readonly path: string;
  /** Copies files or folders of the repository, each to the same place. */
  copy(paths: readonly string[]): Promise<void>;
  /** Runs a program there. @throws {Error} with its output unless it ends with 0 */
  run(program: string, args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>;
  remove(): Promise<void>;
}

export async function emptyFolder(): Promise<EmptyFolder> {
  const path = await mkdtemp(join(tmpdir(), 'stranger-'));
  return {
    path,
    copy: async (paths) => {
      for (const each of paths) await cp(join(REPOSITORY, each), join(path, each), { recursive: true });
    },
    run: async (program, args, environment = {}) => {
      // The suite's own variables must not reach a program that a stranger starts.
      const env = {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? path,
        ...npmSettings(),
        ...environment,
      };
      const { stdout, stderr } = await run(program, args, { cwd: path, env, maxBuffer: 64 * 1024 * 1024 });
      return stdout + stderr;
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Where npm finds packages on this machine, and its cache first. */
function npmSettings(): Record<string, string> {
  const given = Object.entries(process.env).filter(([name]) => /^npm_config_(registry|cache|userconfig)$/i.test(name));
  return {
    ...Object.fromEntries(given.map(([name, value]) => [name, value ?? ''])),
    npm_config_prefer_offline: 'true',
  };
}
