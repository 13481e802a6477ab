import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { describe, it } from 'vitest';
import { hasRedis, postgresPrograms } from '../faults/private-servers.js';
import { soakEngine } from './engine-soak.js';
import type { Plan } from './kill-rounds.js';
import { type EngineResults, type SoakResults, soakText } from './soak-results.js';

const HOURS = Number(process.env['SOAK_HOURS'] ?? 1);
const RESULTS = process.env['SOAK_RESULTS'] ?? 'soak-results.json';
const ONLY = process.env['SOAK_ENGINE'] ?? '';
const PLAN: Plan = { databases: Number.POSITIVE_INFINITY, kills: 60, auditEvery: 30, longestUptimeMs: 1_500 };

const engines = new Map<string, EngineResults>();
const results: Omit<SoakResults, 'endedAt' | 'engines'> = {
  schema: 2,
  startedAt: new Date().toISOString(),
  machine: { processors: cpus().length, memoryMiB: Math.round(totalmem() / 2 ** 20), node: process.version },
};

async function write(counts: EngineResults): Promise<void> {
  engines.set(counts.engine, counts);
  const all: SoakResults = { ...results, endedAt: new Date().toISOString(), engines: [...engines.values()] };
  await writeFile(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
  await writeFile(RESULTS.replace(/(\.json)?$/, '.txt'), `${soakText(all)}\n`);
}

const runnable = (['embedded', 'PostgreSQL'] as const).filter((engine) =>
  engine === 'embedded' ? true : postgresPrograms() !== undefined && hasRedis(),
);
const chosen = runnable.filter((engine) => ONLY === '' || ONLY === engine);

/** All at once: a kill leaves the processors to the others for most of its time. */
describe.concurrent.each(chosen)('on %s', (engine) => {
  it(`${HOURS} hours of everything at once, killed at any moment: each acknowledged thing is there once, no proof changes, no log forks, no queue keeps anything, nothing grows`, async () => {
    await soakEngine(engine, PLAN, Date.now() + HOURS * 3_600_000, write);
  });
});
