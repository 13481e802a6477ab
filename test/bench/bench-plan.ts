/** How much is measured. Durations in seconds. */
export interface BenchPlan {
  readonly mode: 'smoke' | 'full';
  /** Interleaved rounds of every measurement that has rounds. */
  readonly rounds: number;
  /** Starts of the program on each engine, after its first start there. */
  readonly starts: number;
  readonly warmUpSeconds: number;
  /** Of one saturated round. */
  readonly roundSeconds: number;
  /** Of the load at half the saturated rate. */
  readonly latencySeconds: number;
  /** So many receipts are verified, of posts drawn at random; every post's when Infinity. */
  readonly verifiedReceipts: number;
  /** Of one round of in-process work. */
  readonly cryptoSeconds: number;
  /** Events, assets and asset-free events of the tenancy when it is asked its queries. */
  readonly tenancySizes: readonly [small: number, large: number];
  /** So often each query is asked. */
  readonly queryRounds: number;
  /** Of one round of bulk requests. */
  readonly bulkEvents: number;
  /** Statements of one round of registrations. */
  readonly registrations: number;
  /** Leaves of the logs whose receipts are assembled in this process, and how many of the large one's. */
  readonly logSizes: readonly [few: number, many: number];
  readonly coldReceipts: number;
  /** Events that wait when the cost of a backlog's events is measured. */
  readonly backlogs: readonly [few: number, many: number];
  /** Tenancies that share so many events, with one log each. */
  readonly tenancies: number;
  readonly tenancyEvents: number;
  /** Events of the tenancies in which the cost of an event and the memory are measured. */
  readonly sizes: readonly [small: number, large: number];
  /** Events of a tenancy that is measured only where so many bytes are free. */
  readonly greatSize: number;
  readonly greatSizeRoom: number;
  /** Leaves of the logs that are audited. */
  readonly auditedLeaves: number;
  /** So long must a rate of posts hold; rates above the second number are not tried. */
  readonly sustainedSeconds: number;
  readonly sustainedAtMost: number;
  /** So long is a process left alone before its memory is read. */
  readonly idleSeconds: number;
  /** So often each rude body is posted while the event loop is watched. */
  readonly rudeRounds: readonly [warmUp: number, measured: number];
  /** After an answer: what it left to do, in the logs and the queue, holds the loop as well. */
  readonly workedOffSeconds: number;
  /** Whether callers that are rude for up to half a minute are among the rude ones. */
  readonly slowCallers: boolean;
  /** Single posts to an idle service that are followed to CONFIRMED. */
  readonly idlePosts: number;
}

export const SMOKE: BenchPlan = {
  mode: 'smoke',
  rounds: 2,
  starts: 1,
  warmUpSeconds: 0.3,
  roundSeconds: 0.4,
  latencySeconds: 1,
  verifiedReceipts: Number.POSITIVE_INFINITY,
  cryptoSeconds: 0.1,
  tenancySizes: [200, 1000],
  queryRounds: 3,
  bulkEvents: 100,
  registrations: 100,
  logSizes: [100, 2000],
  coldReceipts: 1000,
  backlogs: [3000, 6000],
  tenancies: 10,
  tenancyEvents: 1000,
  sizes: [500, 2000],
  greatSize: 4000,
  greatSizeRoom: 1e9,
  auditedLeaves: 2000,
  sustainedSeconds: 2,
  sustainedAtMost: 400,
  idleSeconds: 1,
  rudeRounds: [0, 1],
  workedOffSeconds: 0.1,
  slowCallers: false,
  idlePosts: 10,
};

export const FULL: BenchPlan = {
  mode: 'full',
  rounds: 5,
  starts: 5,
  warmUpSeconds: 2,
  roundSeconds: 4,
  latencySeconds: 15,
  verifiedReceipts: 1000,
  cryptoSeconds: 1,
  tenancySizes: [1000, 100_000],
  queryRounds: 31,
  bulkEvents: 5000,
  registrations: 2000,
  logSizes: [10_000, 1_000_000],
  coldReceipts: 100_000,
  backlogs: [10_000, 1_000_000],
  tenancies: 1000,
  tenancyEvents: 100_000,
  sizes: [10_000, 1_000_000],
  greatSize: 10_000_000,
  greatSizeRoom: 80e9,
  auditedLeaves: 1_000_000,
  sustainedSeconds: 120,
  sustainedAtMost: 4000,
  idleSeconds: 60,
  rudeRounds: [1, 5],
  workedOffSeconds: 0.7,
  slowCallers: true,
  idlePosts: 60,
};

/** Posts under way at once, at most. */
export const IN_FLIGHT = 128;
/** Arrivals per second of a saturated round: more than any of the stacks answers on one core. */
export const SATURATION = 20_000;
/** Posts that are followed to their receipt at once, at most: every poll is load as well. */
export const FOLLOWED = 4;
export const POLL_MS = 50;
/** So many assets share the events, each the way one vCon's asset has its own. */
export const ASSETS = 64;
