import { startProgram } from './child-process.js';
import { type ClosedLoop, closedLoop, postRequest } from './closed-loop.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import type { LoadTarget } from './load.js';
import { type ServiceUnderTest, sampleAnswer } from './service-under-test.js';
import { percentile, rounded } from './statistics.js';
import { templateEventBody } from './template-event.js';

const BARE_EXPRESS = new URL('./bare-express-server.js', import.meta.url);
const CONNECTIONS = 64;

/** Event posts with an Idempotency-Key, answered when they are on disk, beside an Express that only parses and answers. */
export const postsToExpress: GoalMeasure = {
  goals: ['posts-postgresql', 'posts-embedded'],
  async measure(run) {
    const services: ServiceUnderTest[] = [];
    for (const engine of run.engines) services.push(await run.startOn(engine));
    const express = await startProgram(BARE_EXPRESS, { BENCH_SAMPLE_ANSWER: await sampleAnswer(services[0]!) });
    run.onClose(() => express.stop());
    const targets = [{ name: 'bare Express', url: express.url, target: services[0]!.target }].concat(
      services.map(({ engine, url, target }) => ({ name: engine, url, target })),
    );
    for (const { url, target } of targets) await posts(url, target, run.plan.warmUpSeconds);
    const rates = targets.map((): number[] => []);
    for (let round = 1; round <= run.plan.rounds; round += 1)
      for (const [place, { name, url, target }] of targets.entries()) {
        const loop = await posts(url, target, run.plan.roundSeconds);
        rates[place]!.push(loop.perSecond);
        run.say(`round ${round} of ${run.plan.rounds}: ${name} ${loopText(loop)}`);
      }
    return found(services, rates);
  },
};

function found(services: readonly ServiceUnderTest[], [bare, ...rates]: readonly number[][]): Map<GoalId, Finding> {
  return new Map(
    services.map(({ engine }, place) => [
      `posts-${engine}` as const,
      { rounds: rates[place]!.map((rate, round) => rate / bare![round]!) },
    ]),
  );
}

function loopText({ perSecond, refused, times }: ClosedLoop): string {
  const refusals = refused > 0 ? `, ${refused} refused` : '';
  return `${Math.round(perSecond)} posts/s, p50 ${rounded(percentile(times, 0.5))} ms${refusals}`;
}

let keys = 0;

function posts(url: string, { headers, assets }: LoadTarget, seconds: number): Promise<ClosedLoop> {
  return closedLoop(url, { connections: CONNECTIONS, seconds }, () => {
    keys += 1;
    const { assetId, subject } = assets[keys % assets.length]!;
    const path = `/archivist/v2/assets/${assetId}/events`;
    return postRequest(
      path,
      { ...headers, 'idempotency-key': `posts-${process.pid}-${keys}` },
      templateEventBody(subject),
    );
  });
}
