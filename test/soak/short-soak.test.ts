import { describe, expect, it } from 'vitest';
import { hasRedis, postgresPrograms } from '../faults/private-servers.js';
import { soakEngine } from './engine-soak.js';
import type { Plan } from './kill-rounds.js';

/** Ten kills on each engine; `npm run soak` goes on for hours. */
const PLAN: Plan = { databases: 1, kills: 10, auditEvery: 10, longestUptimeMs: 800 };
/** Where the machine is too slow for ten, fewer kills: the last check takes what it takes. */
const LONGEST_MS = 60_000;

const runnable = (['embedded', 'PostgreSQL'] as const).filter(
  (engine) => engine === 'embedded' || (postgresPrograms() !== undefined && hasRedis()),
);

describe.each(runnable)('on %s', (engine) => {
  it('under a load of everything, killed at any moment: each acknowledged thing is there once, no proof changes, no log forks', async () => {
    const until = Date.now() + LONGEST_MS;
    const counts = await soakEngine(engine, PLAN, until, async () => undefined);
    expect(counts.kills).toBeGreaterThan(0);
    expect(counts.proofs).toBeGreaterThan(0);
    expect(counts.acknowledged['event']).toBeGreaterThan(0);
  }, 300_000);
});
