import { parseArgs } from 'node:util';
import { measureAudit } from './audit-figures.js';
import { type BenchDocument, benchDocument, readBenchDocument } from './bench-document.js';
import { FULL, IN_FLIGHT, SMOKE } from './bench-plan.js';
import { type BenchRun, closeAll, NO_SERVER, withRun } from './bench-run.js';
import { checkPosts, type PostCheck } from './check-posts.js';
import { startProgram } from './child-process.js';
import { comparisonText } from './compare-documents.js';
import { measureCrypto } from './crypto-figures.js';
import { diskUse } from './disk-use.js';
import { measureGoals } from './goal-measures.js';
import { type Found, goalRows, goalTable } from './goal-row.js';
import { GOALS, type GoalId } from './goals.js';
import { createHttpClient } from './http-client.js';
import type { LoadTarget } from './load.js';
import { type MeasuredService, measurePosts } from './measure.js';
import { measurePolicies } from './policy-figures.js';
import { measureGrowth, removeCopiedAssets } from './query-figures.js';
import { measureReceipts } from './receipt-figures.js';
import { measureRegistrations } from './registration-figures.js';
import { details } from './report.js';
import { type Growth, growthReport } from './report-growth.js';
import { registrationReport } from './report-registrations.js';
import { awaitProof, type ServiceUnderTest, sampleAnswer } from './service-under-test.js';

const NO_OP = new URL('./no-op-server.js', import.meta.url);

/** Details for the document, and whether everything that was posted is there. */
interface Measured {
  readonly details: Record<string, unknown>;
  readonly sound: boolean;
}

/** Everything that is not a goal: posts that are looked for afterwards, queries of a growing tenancy, registrations, signatures. */
async function everything(run: BenchRun): Promise<Measured> {
  const services: ServiceUnderTest[] = [];
  for (const engine of run.engines) services.push(await run.startOn(engine));
  const noOp = await startNoOp(services[0]!, run);
  const measured = await measurePosts(noOp, services, run.plan, run.say);
  const checks: PostCheck[] = [];
  for (const each of measured.services) checks.push(await check(each, run));
  const registrations = [];
  for (const service of services) registrations.push(await measureRegistrations(service, run.plan, run.say));
  const growth = await grow(run);
  run.say('signatures, in this process');
  const { identity } = measured.services[0]!.rounds[0]!.accepted[0]!;
  const statement = await awaitProof(services[0]!, identity, 'transparent-statement');
  const crypto = await measureCrypto(services[0]!, statement, run.plan);
  return {
    details: details(run.plan, { measured, checks, growth, registrations, crypto }),
    sound: checks.every((each) => isSound(each, run)),
  };
}

async function registrationsOnly(run: BenchRun): Promise<Measured> {
  const measured = await measureRegistrations(await run.startOn(run.engines.at(-1)!), run.plan, run.say);
  return { details: { registrations: registrationReport([measured]) }, sound: true };
}

async function growthOnly(run: BenchRun): Promise<Measured> {
  return { details: { growth: growthReport(await grow(run)) }, sound: true };
}

/** A service of its own, on the faster engine that there is, whose tenancy grows. */
async function grow(run: BenchRun): Promise<Growth> {
  const { plan, say } = run;
  const engine = await run.openEngine(run.engines.at(-1)!);
  const service = await run.startOn(engine);
  const databaseUrl = engine.environment['DATABASE_URL'];
  const grown = await measureGrowth(service, databaseUrl, plan, say);
  if (!databaseUrl) return { engine: service.engine, ...grown };
  say('pages of assets that policies give');
  const policies = await measurePolicies(service, databaseUrl, plan.queryRounds);
  const disk = await diskUse(databaseUrl);
  say('audit of every log');
  await removeCopiedAssets(databaseUrl);
  const audit = await measureAudit(engine);
  const receipts = await measureReceipts(databaseUrl, plan, say);
  return { engine: service.engine, ...grown, policies, disk, audit, receipts };
}

/** Answers what the real service answers, to the same paths. */
async function startNoOp(service: ServiceUnderTest, run: BenchRun): Promise<LoadTarget> {
  const server = await startProgram(NO_OP, { BENCH_SAMPLE_ANSWER: await sampleAnswer(service) });
  run.onClose(() => server.stop());
  const client = createHttpClient(server.url, IN_FLIGHT);
  run.onClose(async () => client.close());
  return { client, headers: service.headers, assets: service.target.assets };
}

async function check({ service, warmUp, rounds, latency }: MeasuredService, { plan, say }: BenchRun) {
  const accepted = [warmUp, ...rounds, latency].flatMap((each) => each.accepted.map(({ identity }) => identity));
  say(`${service.engine}: looking for ${accepted.length} posts and verifying receipts`);
  return checkPosts(service, accepted, plan);
}

function isSound({ lost, doubled, receiptsRefused }: PostCheck, { say }: BenchRun): boolean {
  const wrong = { lost, doubled, 'without a receipt that verifies': receiptsRefused };
  for (const [what, posts] of Object.entries(wrong))
    if (posts.length > 0) say(`${posts.length} posts are ${what}, such as ${posts[0]}`);
  return lost.length + doubled.length + receiptsRefused.length === 0;
}

const OPTIONS = {
  smoke: { type: 'boolean', default: false },
  goals: { type: 'boolean', default: false },
  goal: { type: 'string', multiple: true, default: [] as string[] },
  growth: { type: 'boolean', default: false },
  registrations: { type: 'boolean', default: false },
  document: { type: 'string' },
  against: { type: 'string' },
} as const;

type Options = ReturnType<typeof parseOptions>;

/** @throws {Error} for an option or a goal that there is not */
function parseOptions() {
  const { values } = parseArgs({ options: OPTIONS });
  for (const id of values.goal)
    if (!(id in GOALS)) throw new Error(`there is no goal ${id}; the goals are ${Object.keys(GOALS).join(', ')}`);
  return values;
}

/** Measures what the options select: everything without any of them. Whether it was all sound is the second member. */
async function measure(options: Options, closers: (() => Promise<void>)[]): Promise<[BenchDocument, boolean]> {
  const plan = options.smoke ? SMOKE : FULL;
  const startedAt = new Date();
  const failures: string[] = [];
  const within = <Result>(work: (run: BenchRun) => Promise<Result>) => withRun(plan, closers, work);
  const part = options.growth ? growthOnly : options.registrations ? registrationsOnly : undefined;
  const goalsOnly = options.goals || options.goal.length > 0;
  const selected = (id: GoalId): boolean => (options.goal.length > 0 ? options.goal.includes(id) : part === undefined);
  const named = (id: GoalId): boolean => options.smoke || options.goal.includes(id);
  const found = await measureGoals({ selected, named }, within, (reason) => void failures.push(reason));
  const { details, sound } = goalsOnly ? { details: {}, sound: true } : await within(part ?? everything);
  const goals = goalRows(found, (id): Found => ({ notMeasured: selected(id) ? whyNot(id) : NOT_SELECTED }));
  const notRun = [...(hasServer() ? [] : [NO_SERVER]), ...failures];
  return [benchDocument(plan, startedAt, { goals, notRun, details }), sound && failures.length === 0];
}

const NOT_SELECTED = 'not selected';
const hasServer = () => Boolean(process.env['BENCH_DATABASE_URL'] || process.env['TEST_DATABASE_URL']);
const whyNot = (id: GoalId) =>
  id.includes('postgresql') && !hasServer() ? NO_SERVER : 'this version does not measure it';

/**
 * One JSON document on standard output; progress, the table of goals and the comparison on standard error. The exit
 * status is 1 for lost evidence and for a measurement that failed, never for a missed goal.
 */
async function main(): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const closers: (() => Promise<void>)[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closeAll(closers, say).finally(() => process.exit(130)));
  try {
    const options = parseOptions();
    const before = options.against === undefined ? undefined : await readBenchDocument(options.against);
    const [document, sound] =
      options.document === undefined
        ? await measure(options, closers)
        : [await readBenchDocument(options.document), true];
    process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
    say(goalTable(document.goals.filter(({ notMeasured }) => notMeasured !== NOT_SELECTED)));
    if (before) say(comparisonText(document, before));
    process.exitCode = sound ? 0 : 1;
  } catch (error) {
    say(`the benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

await main();
