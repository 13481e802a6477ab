import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pythonPath } from '../support/prerequisites.js';

/** A call of the wheel as a conserver makes it, or a change of what the conserver keeps: see conserver/drive.py. */
export type Step =
  | { hook: string }
  | { ask: string; not_asked?: readonly string[] }
  | { within: number }
  | { look: number }
  | { beat: true }
  | { work: number }
  | { configure: object }
  | { configure_later: object; seconds: number }
  | { as_nobody: true }
  | { store: string; uuid: string }
  | { drop: string; uuid: string }
  | { take: string }
  | { full: boolean }
  | { set: string; document: string }
  | { link: string; uuid: string; options?: object | null }
  | { tracer: [string, string]; links: string[]; index: number; name?: string; options?: object };

export interface Driven {
  readonly results: readonly { answer?: unknown; raised?: string; message?: string; ms: number }[];
  /** What was appended; empty on a real Redis. */
  readonly entries: readonly { stream: string; fields: Record<string, string> }[];
  /** Warnings and errors of the wheel. */
  readonly log: readonly string[];
}

const CONSERVER = fileURLToPath(new URL('./conserver', import.meta.url));
const WHEEL = fileURLToPath(new URL('../../plugins/python', import.meta.url));

function environment(redisUrl: string | undefined, config: object): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'] ?? '',
    PYTHONPATH: `${CONSERVER}:${WHEEL}`,
    REDIS_URL: redisUrl ?? '',
    CONSERVER_CONFIG: JSON.stringify(config),
  };
}

const ARGUMENTS = ['-B', `${CONSERVER}/drive.py`];

/**
 * Performs steps in a Python process.
 * @param redisUrl undefined: a client that only takes notes
 * @param config the conserver's config.yml
 */
export function driveWheel(steps: readonly Step[], redisUrl?: string, config: object = {}): Driven {
  const run = spawnSync(pythonPath!, ARGUMENTS, {
    input: JSON.stringify(steps),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: environment(redisUrl, config),
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as Driven;
}

/** Performs steps in a Python process beside this one. `done` resolves when the process has ended, however it did. */
export function startWheel(
  steps: readonly Step[],
  redisUrl: string,
  config: object,
): { readonly done: Promise<void>; kill(): void } {
  const child = spawn(pythonPath!, ARGUMENTS, {
    env: environment(redisUrl, config),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(JSON.stringify(steps));
  return { done: once(child, 'close').then(() => undefined), kill: () => void child.kill('SIGKILL') };
}
