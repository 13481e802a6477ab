import { setTimeout as wait } from 'node:timers/promises';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import { RUDE_BODIES, type RudeBody } from './rude-bodies.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { median, rounded } from './statistics.js';

/** The longest time between two turns of the service's loop since the last look, by a timer of 10 ms; the first is 10 ms. */
const LONGEST = /^nodejs_eventloop_lag_max_seconds (\S+)$/m;

/** The longest time in which the service does nothing else, while each kind of rude body is posted. */
export const loopHolds: GoalMeasure = {
  goals: ['loop-hold-postgresql', 'loop-hold-embedded'],
  async measure(run) {
    const found = new Map<GoalId, Finding>();
    for (const name of run.engines) {
      const service = await run.startOn(name);
      const [warmUp, measured] = run.plan.rudeRounds;
      const held = (body: RudeBody) => heldBy(service, body, run.plan.workedOffSeconds);
      for (let round = 0; round < warmUp; round += 1) for (const body of RUDE_BODIES) await held(body);
      let worst: readonly number[] = [];
      for (const body of RUDE_BODIES) {
        const rounds: number[] = [];
        const statuses = new Set<number>();
        for (let round = 0; round < measured; round += 1) {
          const { status, milliseconds } = await held(body);
          statuses.add(status);
          rounds.push(milliseconds);
        }
        run.say(`${name}: ${body.kind} (${[...statuses].join(', ')}) holds the loop ${rounded(median(rounds))} ms`);
        if (worst.length === 0 || median(rounds) > median(worst)) worst = rounds;
      }
      found.set(`loop-hold-${name}`, { rounds: worst });
    }
    return found;
  },
};

interface Held {
  readonly status: number;
  readonly milliseconds: number;
}

/** Posts one, and returns the longest hold until everything that followed from it is done. */
async function heldBy(service: ServiceUnderTest, body: RudeBody, workedOffSeconds: number): Promise<Held> {
  const request = body.make(service);
  await longestHoldMs(service);
  const { status } = await service.reader.send(request);
  await wait(workedOffSeconds * 1000);
  return { status, milliseconds: await longestHoldMs(service) };
}

/** Since the last call. */
async function longestHoldMs({ reader }: ServiceUnderTest): Promise<number> {
  const { bytes } = await reader.send({ method: 'GET', path: '/metrics' });
  const seconds = LONGEST.exec(bytes.toString())?.[1];
  if (seconds === undefined) throw new Error('the metrics have no delay of the event loop');
  return Number(seconds) * 1000;
}
