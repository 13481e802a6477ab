import { type BenchPlan, FOLLOWED, SATURATION } from './bench-plan.js';
import { type AcceptedPost, type LoadResult, type LoadTarget, runLoad } from './load.js';
import { awaitProof, type ServiceUnderTest, settle } from './service-under-test.js';
import { median } from './statistics.js';

/** One saturated round. */
export interface Round {
  readonly accepted: readonly AcceptedPost[];
  readonly refused: number;
  readonly seconds: number;
  /** Until the logs had worked off all of it. */
  readonly settledSeconds: number;
}

/** The load at half the saturated rate. */
export interface Latency {
  readonly perSecond: number;
  readonly accepted: readonly AcceptedPost[];
  readonly refused: number;
  /** From the scheduled arrival, in milliseconds. */
  readonly timesToReceipt: readonly number[];
}

/** Everything that was measured over HTTP. */
export interface Measured {
  /** Posts per second of each round without tokens and database. */
  readonly noOp: readonly number[];
  readonly services: readonly MeasuredService[];
}

export interface MeasuredService {
  readonly service: ServiceUnderTest;
  /** Counts in no figure; its posts are looked for like all others. */
  readonly warmUp: Round;
  readonly rounds: readonly Round[];
  readonly latency: Latency;
}

type Say = (line: string) => void;

/** Interleaves rounds of the no-op stack and of every service, then loads each service at half of what it can take. */
export async function measurePosts(
  noOp: LoadTarget,
  services: readonly ServiceUnderTest[],
  plan: BenchPlan,
  say: Say,
): Promise<Measured> {
  say(`warming up (${plan.warmUpSeconds} s each)`);
  await saturate(noOp, plan.warmUpSeconds);
  const warmUps: Round[] = [];
  for (const service of services) warmUps.push(await saturatedRound(service, plan.warmUpSeconds));
  const noOpRates: number[] = [];
  const rounds = services.map((): Round[] => []);
  for (let number = 1; number <= plan.rounds; number += 1) {
    const { accepted, seconds } = await saturate(noOp, plan.roundSeconds);
    noOpRates.push(accepted.length / seconds);
    say(`round ${number} of ${plan.rounds}: no-op ${Math.round(noOpRates.at(-1)!)} posts/s`);
    for (const [place, service] of services.entries()) {
      const round = await saturatedRound(service, plan.roundSeconds);
      rounds[place]!.push(round);
      const settled = `worked off in ${round.settledSeconds.toFixed(1)} s`;
      say(`round ${number} of ${plan.rounds}: ${service.engine} ${Math.round(rateOf(round))} posts/s, ${settled}`);
    }
  }
  const measured: MeasuredService[] = [];
  for (const [place, service] of services.entries()) {
    const latency = await halfLoad(service, median(rounds[place]!.map(rateOf)) / 2, plan);
    const { accepted, timesToReceipt } = latency;
    const followed = `${timesToReceipt.length} followed to their receipt`;
    say(`${service.engine}: ${accepted.length} posts at ${Math.round(latency.perSecond)}/s, ${followed}`);
    measured.push({ service, warmUp: warmUps[place]!, rounds: rounds[place]!, latency });
  }
  return { noOp: noOpRates, services: measured };
}

/** Posts per second of a round. */
function rateOf({ accepted, seconds }: Round): number {
  return accepted.length / seconds;
}

function saturate(target: LoadTarget, seconds: number): Promise<LoadResult> {
  return runLoad(target, { perSecond: SATURATION, seconds, giveUpLate: true });
}

async function saturatedRound(service: ServiceUnderTest, seconds: number): Promise<Round> {
  const begun = performance.now();
  const result = await saturate(service.target, seconds);
  if (result.accepted.length === 0) throw new Error(`the service on ${service.engine} accepted nothing`);
  await settle(service, result.accepted);
  return { ...result, settledSeconds: (performance.now() - begun) / 1000 };
}

async function halfLoad(service: ServiceUnderTest, perSecond: number, plan: BenchPlan): Promise<Latency> {
  const timesToReceipt: number[] = [];
  const followed = new Set<Promise<void>>();
  let failure: unknown;
  const follow = async ({ identity, scheduledAt }: AcceptedPost): Promise<void> => {
    await awaitProof(service, identity, 'receipt');
    timesToReceipt.push(performance.now() - scheduledAt);
  };
  const onAccepted = (post: AcceptedPost): void => {
    if (followed.size >= FOLLOWED) return;
    const done = follow(post).catch((error: unknown) => {
      failure ??= error;
    });
    followed.add(done);
    void done.then(() => followed.delete(done));
  };
  const { accepted, refused } = await runLoad(service.target, { perSecond, seconds: plan.latencySeconds, onAccepted });
  await Promise.all(followed);
  if (failure) throw failure;
  await settle(service, accepted);
  return { perSecond, accepted, refused, timesToReceipt };
}
