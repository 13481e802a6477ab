import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pythonPath } from '../support/prerequisites.js';

/** A call of the wheel's link or tracer, or a vCon put into the conserver's Redis: see conserver/drive.py. */
export type Step =
  | { set: string; document: string }
  | { link: string; uuid: string; options?: object | null }
  | { tracer: [string, string]; links: string[]; index: number; options?: object };

export interface Driven {
  readonly results: readonly { answer?: unknown; raised?: string; ms: number }[];
  /** What was appended; empty on a real Redis. */
  readonly entries: readonly { stream: string; fields: Record<string, string> }[];
}

const CONSERVER = fileURLToPath(new URL('./conserver', import.meta.url));
const WHEEL = fileURLToPath(new URL('../../plugins/python', import.meta.url));

/** Performs steps in a Python process. @param redisUrl undefined: a client that only takes notes */
export function driveLink(steps: readonly Step[], redisUrl?: string): Driven {
  const run = spawnSync(pythonPath!, ['-B', `${CONSERVER}/drive.py`], {
    input: JSON.stringify(steps),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: `${CONSERVER}:${WHEEL}`, REDIS_URL: redisUrl ?? '' },
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as Driven;
}
