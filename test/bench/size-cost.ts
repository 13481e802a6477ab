import { readFile } from 'node:fs/promises';
import type { BenchRun } from './bench-run.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { allPublished, copyEvents, type Measuring, openMeasuring, record, until, used } from './logged-events.js';
import { median } from './statistics.js';

const GOALS = ['size-slowdown', 'size-memory'] as const satisfies GoalId[];
const GREAT_GOALS = ['great-size-slowdown', 'great-size-memory'] as const satisfies GoalId[];
const MIBIBYTE = 1024 * 1024;
/** Of the copied events that a tenancy grows by, so many wait at once. */
const STEP = 1_000_000;
const GROWN_POLL_MS = 1000;

/** What an event costs, and how much memory the service needs, in a small and in a large tenancy. */
export const sizeCost: GoalMeasure = {
  goals: GOALS,
  measure: (run) => compareSizes(run, GOALS, run.plan.sizes),
};

/** The same in a tenancy that grows for an hour. */
export const greatSizeCost: GoalMeasure = {
  goals: GREAT_GOALS,
  onlyByName: 'takes an hour and 80 GB: only with --goal',
  measure: (run) => compareSizes(run, GREAT_GOALS, [run.plan.sizes[0], run.plan.greatSize], run.plan.greatSizeRoom),
};

async function compareSizes(
  run: BenchRun,
  goals: readonly [slowdown: GoalId, memory: GoalId],
  sizes: readonly [small: number, large: number],
  room?: number,
): Promise<ReadonlyMap<GoalId, Found>> {
  const found: { readonly micros: number; readonly memory: number }[] = [];
  for (const size of sizes) {
    const measuring = await openMeasuring(run, room);
    if ('notMeasured' in measuring) return new Map<GoalId, Found>(goals.map((id) => [id, measuring]));
    found.push(await inTenancyOf(measuring, size));
    const { micros, memory } = found.at(-1)!;
    run.say(`tenancy of ${size} events: ${Math.round(micros)} µs an event, ${Math.round(memory)} MiB resident`);
  }
  const [small, large] = found;
  return new Map<GoalId, Found>([
    [goals[0], { rounds: [large!.micros / small!.micros] }],
    [goals[1], { rounds: [large!.memory - small!.memory] }],
  ]);
}

async function inTenancyOf(measuring: Measuring, size: number) {
  const { engine, run } = measuring;
  const { bulkEvents, rounds } = run.plan;
  for (let made = 0; made < size; made += STEP) await growBy(measuring, Math.min(STEP, size - made), made);
  const service = await run.startOn(engine);
  await measuring.client.query('VACUUM (ANALYZE)');
  await record(service, bulkEvents);
  const micros: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await until(() => allPublished(measuring));
    const before = await used(measuring, service.pid);
    await record(service, bulkEvents);
    await until(() => allPublished(measuring));
    micros.push((((await used(measuring, service.pid)) - before) * 1e6) / bulkEvents);
  }
  const memory = await residentMebibytes(service.pid);
  await service.stop();
  return { micros: median(micros), memory };
}

/** One event is recorded, and waits while it is copied. */
async function growBy(measuring: Measuring, count: number, after: number): Promise<void> {
  const { engine, run } = measuring;
  const api = await run.startOn(engine, { ROLE: 'api' });
  await record(api, 1);
  await api.stop();
  await copyEvents(measuring, count - 1, after);
  const service = await run.startOn(engine);
  await until(() => allPublished(measuring), GROWN_POLL_MS);
  await service.stop();
}

/** Resident memory of a process (proc(5)). */
async function residentMebibytes(pid: number): Promise<number> {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kibibytes) * 1024) / MIBIBYTE;
}
