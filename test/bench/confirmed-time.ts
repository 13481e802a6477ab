import { setTimeout as wait } from 'node:timers/promises';
import { durableFloor } from './durable-floor.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { percentile, rounded } from './statistics.js';
import { templateEventBody } from './template-event.js';

/** Between two posts, so that each one meets an idle service. */
const PAUSE_MS = 60;
/** Between two looks at the same event. */
const LOOK_MS = 1;
const CONFIRMED_WITHIN_MS = 30_000;
/** The event; the batch with its lease and its seal; the seal under its number and as a file; the log's row. */
const DURABLE_STEPS = { commits: 3, files: 2 };
/** Posts that are not counted: code has not been compiled yet. */
const WARM_UP = 10;

/** Posts one event after the other to an idle service and reads each until it is CONFIRMED. */
export const confirmedTime: GoalMeasure = {
  goals: ['confirmed-time-postgresql', 'confirmed-time-embedded'],
  async measure(run) {
    const found = new Map<GoalId, Finding>();
    for (const name of run.engines) {
      const engine = await run.openEngine(name);
      const service = await run.startOn(engine);
      const times: number[] = [];
      for (let post = -WARM_UP; post < run.plan.idlePosts; post += 1) {
        await wait(PAUSE_MS);
        const confirmed = await confirmedMs(service);
        if (post >= 0) times.push(confirmed);
      }
      run.say(`${name}: CONFIRMED after p50 ${rounded(percentile(times, 0.5))} ms of ${times.length} posts`);
      const floor = await durableFloor(engine, DURABLE_STEPS);
      found.set(`confirmed-time-${name}`, { rounds: times, floor });
    }
    return found;
  },
};

/** Milliseconds from the request until the event is CONFIRMED. */
async function confirmedMs({ target, reader, headers }: ServiceUnderTest): Promise<number> {
  const { assetId, subject } = target.assets[0]!;
  const path = `/archivist/v2/assets/${assetId}/events`;
  const body = templateEventBody(subject);
  const begun = performance.now();
  const { status, bytes } = await target.client.send({ method: 'POST', path, headers, body });
  if (status !== 200) throw new Error(`the creation of an event answered ${status}`);
  const { identity } = JSON.parse(bytes.toString()) as { identity: string };
  while (performance.now() - begun < CONFIRMED_WITHIN_MS) {
    const event = (await reader.json(`/archivist/v2/${identity}`, headers)) as { confirmation_status: string };
    if (event.confirmation_status === 'CONFIRMED') return performance.now() - begun;
    await wait(LOOK_MS);
  }
  throw new Error('an event was not confirmed in time');
}
