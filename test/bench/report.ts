import { ASSETS, type BenchPlan, FOLLOWED, IN_FLIGHT, POLL_MS, SATURATION } from './bench-plan.js';
import type { PostCheck } from './check-posts.js';
import type { CryptoFigures } from './crypto-figures.js';
import type { Measured, MeasuredService } from './measure.js';
import { figure, ratio } from './report-figure.js';
import { type Growth, growthReport } from './report-growth.js';
import { type Registrations, registrationReport } from './report-registrations.js';
import { percentile, rounded } from './statistics.js';
import { newSubject, templateEventBody } from './template-event.js';

/** Everything measured in one run. */
export interface Findings {
  readonly measured: Measured;
  /** In the order of the services. */
  readonly checks: readonly PostCheck[];
  readonly crypto: CryptoFigures;
  readonly growth: Growth;
  readonly registrations: readonly Registrations[];
}

/** Durable posts against the no-op stack, and offline checks against raw ones: what we want to reach. */
const DURABLE_GOAL = 0.8;
const OFFLINE_GOAL = 0.5;

/** Posts of a round that count: answered with success, and found afterwards with a receipt that was not refused. */
function durablePosts(round: MeasuredService['rounds'][number], check: PostCheck): number {
  const refused = new Set(check.receiptsRefused);
  return round.accepted.filter(({ identity }) => check.committed.has(identity) && !refused.has(identity)).length;
}

/** Durable posts per second of each round. */
function durableRates({ rounds }: MeasuredService, check: PostCheck): number[] {
  return rounds.map((round) => durablePosts(round, check) / round.seconds);
}

function serviceFigures(each: MeasuredService, check: PostCheck, plan: BenchPlan) {
  const { rounds, latency, service } = each;
  const accept = latency.accepted.map(({ scheduledAt, answeredAt }) => answeredAt - scheduledAt);
  const times = (values: readonly number[]) => ({
    p50: rounded(percentile(values, 0.5)),
    p99: rounded(percentile(values, 0.99)),
    unit: 'ms from the scheduled arrival',
  });
  return {
    engine: service.description,
    durablePostsPerSecond: figure(durableRates(each, check), 'posts/s'),
    postsPerSecondUntilAllHaveReceipts: figure(
      rounds.map((round) => durablePosts(round, check) / round.settledSeconds),
      'posts/s',
    ),
    atHalfOfThatRate: {
      offeredPerSecond: rounded(latency.perSecond),
      accept: { ...times(accept), posts: accept.length },
      timeToReceipt: { ...times(latency.timesToReceipt), posts: latency.timesToReceipt.length },
    },
    receiptsPerSecond: figure(check.receiptsPerSecond, 'receipts/s over HTTP'),
    refusedPosts: [each.warmUp, ...rounds, latency].reduce((sum, { refused }) => sum + refused, 0),
    check: {
      accepted: check.accepted,
      lookedFor: 'all',
      lost: check.lost.length,
      doubled: check.doubled.length,
      receiptsFetched:
        plan.verifiedReceipts === Number.POSITIVE_INFINITY ? 'all' : `${plan.verifiedReceipts} at random`,
      receiptsVerified: check.receiptsVerified,
      receiptsRefused: check.receiptsRefused.length,
    },
  };
}

function ratios({ measured, checks, crypto }: Findings) {
  const { noOp, services } = measured;
  const durable = services.map((each, place) => durableRates(each, checks[place]!));
  const [embedded, postgresql] = durable;
  const checked = (rates: readonly number[]) => rates.map((rate) => rate * crypto.signaturesPerStatement);
  const perStack = services.map(({ service }, place) => [
    `durableToNoOp_${service.engine}`,
    ratio(
      durable[place]!,
      noOp,
      `durable posts on ${service.engine} ÷ the same stack without tokens and database`,
      DURABLE_GOAL,
    ),
  ]);
  const offline = `signatures checked within transparent statements (${crypto.signaturesPerStatement} each, counted) ÷ raw ES256 verifies`;
  const { es256Verifies } = crypto;
  return {
    ...Object.fromEntries(perStack),
    ...(postgresql
      ? { embeddedToPostgresql: ratio(embedded!, postgresql, 'durable posts, embedded ÷ PostgreSQL') }
      : {}),
    signedStatementsToEs256Signs: ratio(
      crypto.signedStatements,
      crypto.es256Signs,
      'signed statements ÷ raw ES256 signs',
    ),
    receiptsToEs256Signs: ratio(
      checks[0]!.receiptsPerSecond,
      crypto.es256Signs,
      `receipts over HTTP, ${services[0]!.service.engine} ÷ raw ES256 signs: not measured side by side`,
    ),
    offlineNode: ratio(
      checked(crypto.transparentStatementsNode),
      es256Verifies,
      `${offline}, with OpenSSL`,
      OFFLINE_GOAL,
    ),
    offlineWebCrypto: ratio(
      checked(crypto.transparentStatementsWebCrypto),
      es256Verifies,
      `${offline}, with Web Crypto (the default)`,
      OFFLINE_GOAL,
    ),
  };
}

/** What the document says beside the goals. */
export function details(plan: BenchPlan, findings: Findings): Record<string, unknown> {
  const { measured, checks, crypto } = findings;
  const statements = (rates: readonly number[]) =>
    figure(rates, 'transparent statements/s of processor time, one at a time');
  return {
    load: {
      generator: 'open loop in a process of its own on the same machine, latency from the scheduled arrival',
      bodyBytes: templateEventBody(newSubject()).length,
      saturation: `${SATURATION} arrivals/s are offered, at most ${IN_FLIGHT} are under way`,
      timeToReceipt: `of a sample: at most ${FOLLOWED} posts are followed at once, each by a poll every ${POLL_MS} ms`,
      rounds: plan.rounds,
      roundSeconds: plan.roundSeconds,
      tenancies: 1,
      assets: ASSETS,
      idempotencyKeys: 'a new one in every post',
      counted: 'posts answered with 200, listed afterwards with a place in the log, and no receipt of theirs refused',
    },
    ratios: ratios(findings),
    growth: growthReport(findings.growth),
    registrations: registrationReport(findings.registrations),
    figures: {
      noOpPostsPerSecond: figure(measured.noOp, 'posts/s'),
      ...Object.fromEntries(
        measured.services.map((each, place) => [each.service.engine, serviceFigures(each, checks[place]!, plan)]),
      ),
      es256Signs: figure(crypto.es256Signs, 'signs/s of processor time'),
      signedStatements: figure(crypto.signedStatements, 'statements/s of processor time'),
      es256Verifies: figure(crypto.es256Verifies, 'verifies/s of processor time'),
      offlineVerificationsNode: statements(crypto.transparentStatementsNode),
      offlineVerificationsWebCrypto: statements(crypto.transparentStatementsWebCrypto),
    },
  };
}
