import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { QUICK_START } from '../support/quick-start.js';

/** What `npm run build` made: these tests kill the program that people run. */
const PROGRAM = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const LISTENS = /^vcon-archivist listens on (\S+)/m;
/** Set by the soak, which yields to everything else. */
const START_WITHIN_MS = Number(process.env['START_WITHIN_SECONDS'] ?? 60) * 1_000;

/** The built program in a process of its own. */
export interface ServiceProcess {
  readonly pid: number;
  /** Where it listens; undefined when it ended before it did. */
  readonly ready: Promise<string | undefined>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** All that it has written so far. */
  output(): string;
  /** Its log lines, parsed. */
  logLines(): Record<string, unknown>[];
  signal(name: NodeJS.Signals): void;
  /** Ends it without any warning. */
  kill(): Promise<void>;
  /** Ends it as an operator does. */
  stop(): Promise<void>;
}

export function spawnService(environment: Readonly<Record<string, string>>): ServiceProcess {
  if (!existsSync(PROGRAM)) throw new Error('the program is not built: npm run build');
  const child = spawn(process.execPath, [...QUICK_START, PROGRAM], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const orphan = () => child.kill('SIGKILL');
  process.once('exit', orphan);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => {
      process.off('exit', orphan);
      resolve(signal ?? code);
    });
  });
  const output = collect(child);
  const signal = (name: NodeJS.Signals) => {
    child.kill(name);
  };
  const end = async (name: NodeJS.Signals) => {
    signal(name);
    await ended;
  };
  return {
    pid: child.pid!,
    ready: listening(child, output, ended),
    ended,
    output,
    logLines: () =>
      output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    signal,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

function collect(child: ChildProcess): () => string {
  let written = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  return () => written;
}

async function listening(child: ChildProcess, output: () => string, ended: Promise<unknown>) {
  let timer: NodeJS.Timeout | undefined;
  const url = new Promise<string | undefined>((resolve, reject) => {
    child.stdout!.on('data', () => {
      const found = LISTENS.exec(output());
      if (found) resolve(found[1]);
    });
    void ended.then(() => resolve(LISTENS.exec(output())?.[1]));
    timer = setTimeout(() => reject(new Error(`the service does not listen:\n${output()}`)), START_WITHIN_MS);
  });
  return url.finally(() => clearTimeout(timer));
}
