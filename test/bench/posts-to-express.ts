import { startProgram } from './child-process.js';
import { type ClosedLoop, closedLoop, postRequest } from './closed-loop.js';
import type { EngineName } from './engines.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import type { LoadTarget } from './load.js';
import { openRawInsert, type RawInsert } from './raw-insert.js';
import { type ServiceUnderTest, sampleAnswer } from './service-under-test.js';
import { median, percentile, rounded } from './statistics.js';
import { templateEventBody } from './template-event.js';

const BARE_EXPRESS = new URL('./bare-express-server.js', import.meta.url);
const NO_OP = new URL('./no-op-server.js', import.meta.url);
const CONNECTIONS = 64;
const RAW_BATCHES = 20;

/**
 * Event posts with an Idempotency-Key, answered when they are on disk, beside an Express that only parses and answers. The floor has
 * neither tokens nor a database, and rows that are no more than an id and a body.
 */
export const postsToExpress: GoalMeasure = {
  goals: ['posts-postgresql', 'posts-embedded'],
  async measure(run) {
    const services: ServiceUnderTest[] = [];
    const inserts = new Map<EngineName, RawInsert>();
    for (const name of run.engines) {
      const engine = await run.openEngine(name);
      services.push(await run.startOn(engine));
      const databaseUrl = engine.environment['DATABASE_URL'];
      if (databaseUrl === undefined) continue;
      const insert = await openRawInsert(databaseUrl, CONNECTIONS);
      run.onClose(() => insert.close());
      inserts.set(name, insert);
    }
    const sample = await sampleAnswer(services[0]!);
    const { target } = services[0]!;
    const targets = [];
    for (const [name, program] of [
      ['bare Express', BARE_EXPRESS],
      ['the pipeline with nothing behind it', NO_OP],
    ] as const) {
      const server = await startProgram(program, { BENCH_SAMPLE_ANSWER: sample });
      run.onClose(() => server.stop());
      targets.push({ name, url: server.url, target });
    }
    targets.push(...services.map(({ engine, url, target }) => ({ name: engine, url, target })));
    for (const { url, target } of targets) await posts(url, target, run.plan.warmUpSeconds);
    const rates = targets.map((): number[] => []);
    for (let round = 1; round <= run.plan.rounds; round += 1)
      for (const [place, { name, url, target }] of targets.entries()) {
        const loop = await posts(url, target, run.plan.roundSeconds);
        rates[place]!.push(loop.perSecond);
        run.say(`round ${round} of ${run.plan.rounds}: ${name} ${loopText(loop)}`);
      }
    const stored = new Map<EngineName, number>();
    for (const [name, insert] of inserts) stored.set(name, await insert.rate(RAW_BATCHES));
    return found(services, rates, stored);
  },
};

/** @param stored bare rows per second on each engine that runs in processes of its own */
function found(
  services: readonly ServiceUnderTest[],
  [bare, pipeline, ...rates]: readonly number[][],
  stored: ReadonlyMap<EngineName, number>,
): Map<GoalId, Finding> {
  const express = median(bare!);
  const empty = median(pipeline!);
  return new Map(
    services.map(({ engine }, place) => {
      const rows = stored.get(engine);
      const figure = Math.min(empty, rows ?? empty) / express;
      const beside = rows === undefined ? '' : `; one connection stores ${Math.round(rows)} bare rows/s`;
      const why = `the pipeline with nothing behind it answers ${Math.round(empty)}/s, bare Express ${Math.round(express)}/s${beside}`;
      const rounds = rates[place]!.map((rate, round) => rate / bare![round]!);
      return [`posts-${engine}` as const, { rounds, floor: { figure, why } }];
    }),
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
