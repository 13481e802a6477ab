import { setTimeout as wait } from 'node:timers/promises';
import type { BenchRun } from './bench-run.js';
import type { EngineName } from './engines.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { runLoad } from './load.js';
import { rawSigns } from './raw-signatures.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { rounded } from './statistics.js';

/** A rate is sustained while the oldest waiting entry is no older than this. */
const MOST_LAG_SECONDS = 1;
/** Posts that are accepted, as a share of those that were due. */
const LEAST_ACCEPTED = 0.98;
/** Rates that are tried for a short time before one is tried for the whole time. */
const SHORT_TRIALS = 5;
/** A rate that does not hold for the whole time is lowered to this share of it, so often at most. */
const LOWER = 0.9;
const LONG_TRIALS = 8;
const LOOK_MS = 200;
const LAG = /^archivist_sequencer_lag_seconds(?:\{[^}]*\})? (\S+)$/m;

/** The highest rate of event posts at which the sequencer keeps up for the whole time. */
export const sustainedPosts: GoalMeasure = {
  goals: ['sustained-posts-postgresql', 'sustained-posts-embedded'],
  async measure(run) {
    const found = new Map<GoalId, Found>();
    for (const name of run.engines) found.set(`sustained-posts-${name}`, await sustainedRate(run, name));
    return found;
  },
};

async function sustainedRate(run: BenchRun, name: EngineName): Promise<Found> {
  const { warmUpSeconds, roundSeconds, sustainedSeconds, sustainedAtMost } = run.plan;
  const service = await run.startOn(name);
  await hold(service, sustainedAtMost, warmUpSeconds);
  let [low, high] = [0, sustainedAtMost];
  for (let trial = 0; trial < SHORT_TRIALS; trial += 1) {
    const middle = (low + high) / 2;
    if ((await hold(service, middle, 2 * roundSeconds)).held) low = middle;
    else high = middle;
  }
  let rate = low > 0 ? low : high;
  for (let trial = 0; trial < LONG_TRIALS; trial += 1, rate *= LOWER) {
    const { held, accepted, lag } = await hold(service, rate, sustainedSeconds);
    const outcome = `${Math.round(accepted)} accepted, lag at most ${rounded(lag)} s`;
    run.say(
      `${name}: ${Math.round(rate)} posts/s for ${sustainedSeconds} s ${held ? 'hold' : 'do not hold'}: ${outcome}`,
    );
    if (held)
      return {
        rounds: [rate],
        floor: { figure: rawSigns(), why: 'raw ES256 signatures/s on one core; an event needs one' },
      };
  }
  return { notMeasured: `no rate above ${Math.round(rate)} posts/s held` };
}

/** What became of a load of one rate. */
interface Trial {
  /** The service accepted the rate while its sequencer kept up. */
  readonly held: boolean;
  /** Posts per second. */
  readonly accepted: number;
  /** The largest, in seconds. */
  readonly lag: number;
}

/** Posts at this rate for so long. Resolves when nothing waits any more. */
async function hold(service: ServiceUnderTest, perSecond: number, seconds: number): Promise<Trial> {
  let done = false;
  let lag = 0;
  const watching = (async () => {
    for (; !done; await wait(LOOK_MS)) lag = Math.max(lag, await lagSeconds(service));
  })();
  const load = await runLoad(service.target, { perSecond, seconds, giveUpLate: true }).finally(() => {
    done = true;
  });
  await watching;
  while ((await lagSeconds(service)) > 0) await wait(LOOK_MS);
  const accepted = load.accepted.length / seconds;
  return { held: lag <= MOST_LAG_SECONDS && accepted >= LEAST_ACCEPTED * perSecond, accepted, lag };
}

async function lagSeconds({ reader }: ServiceUnderTest): Promise<number> {
  const { bytes } = await reader.send({ method: 'GET', path: '/metrics' });
  const lag = LAG.exec(bytes.toString())?.[1];
  if (lag === undefined) throw new Error('the service has no metric of the lag of its sequencers');
  return Number(lag);
}
