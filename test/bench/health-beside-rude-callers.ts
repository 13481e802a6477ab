import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { behaveRudely, checksBeside, slowestMs } from '../faults/behave-rudely.js';
import { durationMs, type HealthCheck } from '../faults/health-checks.js';
import { type RudeBehaviour, rudeBehaviours } from '../faults/rude-behaviours.js';
import type { BenchRun } from './bench-run.js';
import { startProgram } from './child-process.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import { median, rounded } from './statistics.js';

const SHOWN = 5;
const BARE = new URL('./plain-http-server.js', import.meta.url);
const PROBER = new URL('./health-prober.js', import.meta.url);

/**
 * The slowest answer of `/healthz` while callers are rude: the fault tests hold that it is answered beside each rude
 * behaviour, and leave how soon to a quiet machine.
 */
export const healthBesideRudeCallers: GoalMeasure = {
  goals: ['healthz-beside-rude-callers'],
  async measure(run) {
    const { url, headers } = await run.startOn('embedded');
    const token = headers['authorization']!.slice('Bearer '.length);
    const bare = await startProgram(BARE, {});
    run.onClose(() => bare.stop());
    const end = await askApart(run, [url, bare.url]);
    const behaviours = rudeBehaviours(token).filter((behaviour) => run.plan.slowCallers || isBrief(behaviour));
    const behaved = await behaveRudely(url, behaviours);
    const [checks, floor] = (await end()) as [readonly HealthCheck[], readonly HealthCheck[]];
    const rows = behaved.map((row) => ({ name: row.name, slowestMs: slowestMs(checksBeside(row, checks)) }));
    for (const row of slowestFirst(rows).slice(0, SHOWN)) run.say(`beside ${row.name}: ${rounded(row.slowestMs)} ms`);
    run.say(
      `${rows.length} behaviours, ${checks.length} answers, median ${rounded(median(checks.map(durationMs)))} ms; of a bare server ${rounded(median(floor.map(durationMs)))} ms`,
    );
    const why = 'the slowest answer of a bare server, which the same thread asked meanwhile';
    const finding = { ...besideSlowest(rows), floor: { figure: slowestMs(floor), why } };
    return new Map([['healthz-beside-rude-callers', finding]]);
  },
};

const isBrief = ({ drips, pours, sips, closes }: RudeBehaviour) => !drips && !pours && !sips && !closes;

/** Asks these servers from a thread of its own: the callers hold up their own for longer than the service does its own. */
async function askApart(run: BenchRun, urls: readonly string[]): Promise<() => Promise<unknown>> {
  const prober = new Worker(PROBER, { workerData: urls });
  run.onClose(async () => void (await prober.terminate()));
  await once(prober, 'message');
  return async () => {
    const answered = once(prober, 'message');
    prober.postMessage('end');
    const [checks] = await answered;
    return checks;
  };
}

interface SlowestBeside {
  readonly name: string;
  /** In milliseconds. */
  readonly slowestMs: number;
}

/** The slowest answer of all, and which behaviour it was beside. */
export function besideSlowest(rows: readonly SlowestBeside[]): Finding {
  const { name, slowestMs } = slowestFirst(rows)[0]!;
  return { rounds: [slowestMs], note: `slowest of ${rows.length}: beside ${name}` };
}

function slowestFirst(rows: readonly SlowestBeside[]): SlowestBeside[] {
  return [...rows].sort((one, other) => other.slowestMs - one.slowestMs);
}
