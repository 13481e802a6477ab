import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../support/free-port.js';
import type { BenchRun } from './bench-run.js';
import { startProgram } from './child-process.js';
import type { Engine } from './engines.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';

const PROGRAM = new URL('../../src/main.js', import.meta.url);
const READY_WITHIN_MS = 60_000;

/** From the start of the process until `/readyz` answers 200: on a new data folder, and on one that a service has used. */
export const startToReady: GoalMeasure = {
  goals: ['start-embedded-with-data', 'start-embedded-first', 'start-postgresql'],
  async measure(run) {
    const first: number[] = [];
    const again = { embedded: [] as number[], postgresql: [] as number[] };
    for (let round = 0; round < run.plan.starts; round += 1)
      for (const name of run.engines) {
        const engine = await run.openEngine(name);
        const firstStart = await secondsToReady(run, engine);
        if (name === 'embedded') first.push(firstStart);
        again[name].push(await secondsToReady(run, engine));
        run.say(`${name}: first start ${firstStart.toFixed(2)} s, next ${again[name].at(-1)!.toFixed(2)} s`);
      }
    const found = new Map<GoalId, Finding>([
      ['start-embedded-first', { rounds: first }],
      ['start-embedded-with-data', { rounds: again.embedded }],
    ]);
    if (again.postgresql.length > 0) found.set('start-postgresql', { rounds: again.postgresql });
    return found;
  },
};

async function secondsToReady(run: BenchRun, { environment }: Engine): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  const started = startProgram(PROGRAM, { ...environment, PORT: String(port), PLUGIN_PORT: '0', LOG_LEVEL: 'error' });
  run.onClose(() =>
    started.then(
      (program) => program.stop(),
      () => undefined,
    ),
  );
  const url = `http://127.0.0.1:${port}/readyz`;
  for (let ready = false; !ready; await wait(5)) {
    if (performance.now() - begun > READY_WITHIN_MS) throw new Error('the service was not ready in time');
    ready = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  }
  const seconds = (performance.now() - begun) / 1000;
  await (await started).stop();
  return seconds;
}
