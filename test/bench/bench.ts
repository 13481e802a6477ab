import { measureAudit } from './audit-figures.js';
import { type BenchPlan, FULL, IN_FLIGHT, SMOKE } from './bench-plan.js';
import { checkPosts, type PostCheck } from './check-posts.js';
import { startProgram } from './child-process.js';
import { measureCrypto } from './crypto-figures.js';
import { diskUse } from './disk-use.js';
import { type Engine, embeddedEngine, postgresqlEngine } from './engines.js';
import { createHttpClient } from './http-client.js';
import type { LoadTarget } from './load.js';
import { type MeasuredService, measurePosts } from './measure.js';
import { measurePolicies } from './policy-figures.js';
import { measureGrowth } from './query-figures.js';
import { measureReceipts } from './receipt-figures.js';
import { measureRegistrations } from './registration-figures.js';
import { report } from './report.js';
import { type Growth, growthReport } from './report-growth.js';
import { registrationReport } from './report-registrations.js';
import { awaitProof, type ServiceUnderTest, sampleAnswer, startService } from './service-under-test.js';

const NO_OP = new URL('./no-op-server.js', import.meta.url);

/** What must be ended or removed, whatever happens; the youngest first. */
type Closers = (() => Promise<void>)[];

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function closeAll(closers: Closers): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop())
    await close().catch((error: unknown) =>
      say(`cleaning up: ${error instanceof Error ? error.message : String(error)}`),
    );
}

/** Runs the whole benchmark. Resolves to the document, and whether everything that was posted is there. */
async function run(plan: BenchPlan, closers: Closers): Promise<{ document: object; sound: boolean }> {
  const startedAt = new Date();
  const server = process.env['BENCH_DATABASE_URL'] || process.env['TEST_DATABASE_URL'];
  const services = [await startOn(await embeddedEngine(), closers)];
  if (server) services.push(await startOn(await postgresqlEngine(server, process.env['BENCH_REDIS_URL']), closers));
  const noOp = await startNoOp(services[0]!, closers);
  const measured = await measurePosts(noOp, services, plan, say);
  const checks: PostCheck[] = [];
  for (const each of measured.services) checks.push(await check(each, plan));
  const registrations = [];
  for (const service of services) registrations.push(await measureRegistrations(service, plan, say));
  const growth = await growOn(server, plan, closers);
  say('signatures, in this process');
  const { identity } = measured.services[0]!.rounds[0]!.accepted[0]!;
  const statement = await awaitProof(services[0]!, identity, 'transparent-statement');
  const document = report(plan, {
    measured,
    checks,
    growth,
    registrations,
    crypto: await measureCrypto(services[0]!, statement, plan),
    notRun: server ? [] : ['PostgreSQL: neither BENCH_DATABASE_URL nor TEST_DATABASE_URL is set'],
    startedAt,
    seconds: (Date.now() - startedAt.getTime()) / 1000,
  });
  return { document, sound: checks.every(isSound) };
}

async function registrationsAlone(plan: BenchPlan, closers: Closers): Promise<{ document: object; sound: boolean }> {
  const server = process.env['BENCH_DATABASE_URL'] || process.env['TEST_DATABASE_URL'];
  const engine = server ? await postgresqlEngine(server, process.env['BENCH_REDIS_URL']) : await embeddedEngine();
  const measured = await measureRegistrations(await startOn(engine, closers), plan, say);
  return { document: registrationReport([measured]), sound: true };
}

async function growthAlone(plan: BenchPlan, closers: Closers): Promise<{ document: object; sound: boolean }> {
  const server = process.env['BENCH_DATABASE_URL'] || process.env['TEST_DATABASE_URL'];
  return { document: growthReport(await growOn(server, plan, closers)), sound: true };
}

async function startOn(engine: Engine, closers: Closers): Promise<ServiceUnderTest> {
  closers.push(() => engine.remove());
  say(`starting the service on ${engine.name}`);
  const service = await startService(engine);
  closers.push(() => service.stop());
  return service;
}

/** A service of its own, on the faster engine that there is, whose tenancy grows. */
async function growOn(server: string | undefined, plan: BenchPlan, closers: Closers): Promise<Growth> {
  const engine = server ? await postgresqlEngine(server, process.env['BENCH_REDIS_URL']) : await embeddedEngine();
  const service = await startOn(engine, closers);
  const databaseUrl = engine.environment['DATABASE_URL'];
  const grown = await measureGrowth(service, databaseUrl, plan, say);
  if (!databaseUrl) return { engine: service.engine, ...grown };
  say('pages of assets that policies give');
  const policies = await measurePolicies(service, databaseUrl, plan.queryRounds);
  const disk = await diskUse(databaseUrl);
  say('audit of every log');
  const audit = await measureAudit(engine);
  const receipts = await measureReceipts(databaseUrl, plan, say);
  return { engine: service.engine, ...grown, policies, disk, audit, receipts };
}

/** Answers what the real service answers, to the same paths. */
async function startNoOp(service: ServiceUnderTest, closers: Closers): Promise<LoadTarget> {
  const server = await startProgram(NO_OP, { BENCH_SAMPLE_ANSWER: await sampleAnswer(service) });
  closers.push(() => server.stop());
  const client = createHttpClient(server.url, IN_FLIGHT);
  closers.push(async () => client.close());
  return { client, headers: service.headers, assets: service.target.assets };
}

async function check({ service, warmUp, rounds, latency }: MeasuredService, plan: BenchPlan): Promise<PostCheck> {
  const accepted = [warmUp, ...rounds, latency].flatMap((each) => each.accepted.map(({ identity }) => identity));
  say(`${service.engine}: looking for ${accepted.length} posts and verifying receipts`);
  return checkPosts(service, accepted, plan);
}

function isSound({ lost, doubled, receiptsRefused }: PostCheck): boolean {
  const wrong = { lost, doubled, 'without a receipt that verifies': receiptsRefused };
  for (const [what, posts] of Object.entries(wrong))
    if (posts.length > 0) say(`${posts.length} posts are ${what}, such as ${posts[0]}`);
  return lost.length + doubled.length + receiptsRefused.length === 0;
}

/** JSON alone on standard output, progress beside it. The exit status tells of lost evidence, never of a missed goal. */
async function main(): Promise<void> {
  const closers: Closers = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closeAll(closers).finally(() => process.exit(130)));
  try {
    const plan = process.argv.includes('--smoke') ? SMOKE : FULL;
    const only = [
      ['--growth', growthAlone],
      ['--registrations', registrationsAlone],
    ] as const;
    const [, measure] = only.find(([name]) => process.argv.includes(name)) ?? ['', run];
    const { document, sound } = await measure(plan, closers);
    process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
    process.exitCode = sound ? 0 : 1;
  } catch (error) {
    say(`the benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    await closeAll(closers);
  }
}

await main();
