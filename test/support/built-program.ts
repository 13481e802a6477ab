import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { QUICK_START } from './quick-start.js';

const LIMIT_MS = 60_000;

/** A program of the build, as people run it, in a process of its own. */
export interface BuiltProgram {
  /** All that it has written so far. */
  readonly written: { readonly out: string; readonly err: string };
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Waits for something on standard output. @throws {Error} with all that was written when it ends before, or is silent for long */
  says(what: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
}

const running = new Set<BuiltProgram>();

/** For `afterAll`: a test that failed half-way leaves nothing behind. */
export async function killBuilt(): Promise<void> {
  await Promise.all(
    [...running].map((program) => {
      program.signal('SIGKILL');
      return program.ended;
    }),
  );
}

/**
 * @param environment all that the program sees of an environment, but for `PATH`
 * @param dist the build, if not this version's
 */
export function startBuilt(
  program: 'main' | 'cli/vcon-archivist',
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  dist = fileURLToPath(new URL('../../dist', import.meta.url)),
): BuiltProgram {
  const file = join(dist, 'src', `${program}.js`);
  if (!existsSync(file)) throw new Error('the program is not built: npm run build');
  const child = spawn(process.execPath, [...QUICK_START, file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { out: '', err: '' };
  for (const [stream, name] of [
    [child.stdout, 'out'],
    [child.stderr, 'err'],
  ] as const) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code!));
  });
  const started: BuiltProgram = {
    written,
    ended,
    says: (what) => said(what, child.stdout, written, ended),
    signal: (name) => void child.kill(name),
  };
  running.add(started);
  void ended.then(() => running.delete(started));
  return started;
}

function said(
  what: RegExp,
  stream: NodeJS.ReadableStream,
  written: BuiltProgram['written'],
  ended: Promise<unknown>,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${why} ${what}:\n${written.out}${written.err}`));
    const late = setTimeout(() => fail('the program does not say'), LIMIT_MS);
    const look = () => {
      const found = what.exec(written.out);
      if (!found) return;
      clearTimeout(late);
      stream.off('data', look);
      resolve(found);
    };
    stream.on('data', look);
    look();
    void ended.then(() => {
      look();
      clearTimeout(late);
      fail('the program ended before it said');
    });
  });
}
