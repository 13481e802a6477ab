import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchRun } from './bench-run.js';
import type { Engine } from './engines.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import { type Role, startRole } from './service-under-test.js';
import { rounded } from './statistics.js';

const PARTS: readonly Role[] = ['api', 'ledger', 'worker'];
const MEGABYTE = 1e6;

/**
 * The resident memory (VmRSS) of an idle process a minute after its start: of the embedded service, the larger of a first
 * start and the next one; on PostgreSQL, the largest of the parts, each a process of its own. Both are started at once. In
 * the first half of that minute the memory still has what only a start needs; a smoke run does not wait for it.
 */
export const memoryAfterStart: GoalMeasure = {
  goals: ['memory-embedded', 'memory-postgresql'],
  async measure(run) {
    const [embedded, parts] = await Promise.all([
      ofWhole(run),
      run.engines.includes('postgresql') ? ofParts(run) : undefined,
    ]);
    const found = new Map<GoalId, Finding>([['memory-embedded', embedded]]);
    if (parts) found.set('memory-postgresql', parts);
    return found;
  },
};

async function ofWhole(run: BenchRun): Promise<Finding> {
  const engine = await run.openEngine('embedded');
  const first = await megabytesAfterStart(run, engine, 'all');
  const next = await megabytesAfterStart(run, engine, 'all');
  const note = `first start ${rounded(first)}, next ${rounded(next)}`;
  run.say(`memory, embedded: ${note}`);
  return { rounds: [Math.max(first, next)], note };
}

async function ofParts(run: BenchRun): Promise<Finding> {
  const engine = await run.openEngine('postgresql');
  const whole = await megabytesAfterStart(run, engine, 'all');
  const parts = await Promise.all(PARTS.map((role) => megabytesAfterStart(run, engine, role)));
  const each = PARTS.map((role, place) => `${role} ${rounded(parts[place]!)}`).join(', ');
  const note = `${each}; everything in one process ${rounded(whole)}`;
  run.say(`memory, PostgreSQL: ${note}`);
  return { rounds: [Math.max(...parts)], note };
}

/** Starts it, lets it be, and stops it. */
async function megabytesAfterStart(run: BenchRun, engine: Engine, role: Role): Promise<number> {
  const started = await startRole(engine, role);
  run.onClose(() => started.stop());
  await wait(run.plan.idleSeconds * 1000);
  const status = await readFile(`/proc/${started.pid}/status`, 'utf8');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error('the memory of a process is read from /proc, which Linux has');
  await started.stop();
  return (Number(kibibytes) * 1024) / MEGABYTE;
}
