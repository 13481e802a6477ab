import { setTimeout as wait } from 'node:timers/promises';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import { RUDE_BODIES, type RudeBody } from './rude-bodies.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { median, rounded } from './statistics.js';

/** The longest time between two turns of the service's loop since the last look, by a timer of 10 ms; the first is 10 ms. */
const LONGEST = /^nodejs_eventloop_lag_max_seconds (\S+)$/m;
/** After an answer: what it left to do, in the logs and the queue, holds the loop as well. */
const WORKED_OFF_MS = 700;

/** The longest time in which the service does nothing else, while each kind of rude body is posted. */
export const loopHolds: GoalMeasure = {
  goals: ['loop-hold-postgresql', 'loop-hold-embedded'],
  async measure(run) {
    const found = new Map<GoalId, Finding>();
    for (const name of run.engines) {
      const service = await run.startOn(name);
      const [warmUp, measured] = run.plan.rudeRounds;
      for (let round = 0; round < warmUp; round += 1) for (const body of RUDE_BODIES) await held(service, body);
      let worst: readonly number[] = [];
      for (const body of RUDE_BODIES) {
        const rounds: number[] = [];
        const statuses = new Set<number>();
        for (let round = 0; round < measured; round += 1) {
          const { status, milliseconds } = await held(service, body);
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

/** Posts one, and returns the longest hold until everything that followed from it is done. */
async function held(service: ServiceUnderTest, body: RudeBody): Promise<{ status: number; milliseconds: number }> {
  const request = body.make(service);
  await longestHoldMs(service);
  const { status } = await service.reader.send(request);
  await wait(WORKED_OFF_MS);
  return { status, milliseconds: await longestHoldMs(service) };
}

/** Since the last call. */
async function longestHoldMs({ reader }: ServiceUnderTest): Promise<number> {
  const { bytes } = await reader.send({ method: 'GET', path: '/metrics' });
  const seconds = LONGEST.exec(bytes.toString())?.[1];
  if (seconds === undefined) throw new Error('the metrics have no delay of the event loop');
  return Number(seconds) * 1000;
}
