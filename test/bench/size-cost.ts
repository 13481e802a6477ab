import { readFile } from 'node:fs/promises';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { allPublished, copyEvents, type Measuring, openMeasuring, record, until, used } from './logged-events.js';
import { median } from './statistics.js';

const GOALS = ['size-slowdown', 'size-memory'] as const satisfies GoalId[];
const MIBIBYTE = 1024 * 1024;

/** What an event costs, and how much memory the service needs, in a small and in a large tenancy. */
export const sizeCost: GoalMeasure = {
  goals: GOALS,
  async measure(run) {
    const found: { readonly micros: number; readonly memory: number }[] = [];
    for (const size of run.plan.sizes) {
      const measuring = await openMeasuring(run);
      if ('notMeasured' in measuring) return new Map<GoalId, Found>(GOALS.map((id) => [id, measuring]));
      found.push(await inTenancyOf(measuring, size));
      const { micros, memory } = found.at(-1)!;
      run.say(`tenancy of ${size} events: ${Math.round(micros)} µs an event, ${Math.round(memory)} MiB resident`);
    }
    const [small, large] = found;
    return new Map<GoalId, Found>([
      ['size-slowdown', { rounds: [large!.micros / small!.micros] }],
      ['size-memory', { rounds: [large!.memory - small!.memory] }],
    ]);
  },
};

async function inTenancyOf(measuring: Measuring, size: number) {
  const { engine, run } = measuring;
  const { bulkEvents, rounds } = run.plan;
  const api = await run.startOn(engine, { ROLE: 'api' });
  await record(api, 1);
  await api.stop();
  await copyEvents(measuring, size - 1);
  const service = await run.startOn(engine);
  await until(() => allPublished(measuring));
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

/** Resident memory of a process (proc(5)). */
async function residentMebibytes(pid: number): Promise<number> {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kibibytes) * 1024) / MIBIBYTE;
}
