/** What one figure should reach. */
export interface Goal {
  readonly name: string;
  readonly unit: string;
  readonly goal: number;
  /** Whether a smaller or a larger figure is the better one. */
  readonly better: 'lower' | 'higher';
}

const lower = (name: string, unit: string, goal: number) => ({ name, unit, goal, better: 'lower' }) as const;
const higher = (name: string, unit: string, goal: number) => ({ name, unit, goal, better: 'higher' }) as const;

const PROCESSOR = 'µs processor time per template event, request to receipt, all processes';
const REGISTRATION = 'ms p50, one registration in flight, answered with its receipt';
const REGISTRATIONS = 'registrations with receipt/s, 64 in flight';
const POSTS = 'event posts accepted ÷ bare Express with the same body, 64 in flight';
const SUSTAINED = 'event posts/s with a sequencer lag of at most 1 s, for two minutes';
const CONFIRMED = 'ms p50 from an event post to CONFIRMED on an idle service';
const PAGES = 'ms p50 until all requests of the slowest page of the console are answered, 10^5 events';
const VISIT = 'ms from the navigation of a new browser, its cache empty, until the page can be used';
const HOLD = 'ms at most between two turns of the event loop, by a timer of 10 ms, for the rudest body of legal size';
const HEALTH = 'ms of the slowest /healthz beside more than forty rude behaviours, 24 at once';
const EMBEDDED_MEMORY = 'MB resident (10^6 bytes, VmRSS) a minute after a start, idle: a first start or the next';
const PART_MEMORY = 'MB resident a minute after a start, idle: the largest of api, ledger and worker, each a process';
const START = 's from the start of the built program to ready';

/** The goals of this program's speed. A document of the benchmark has one row for each, in this order. */
export const GOALS = {
  'processor-time-per-event': lower('Processor time per event, PostgreSQL', PROCESSOR, 250),
  'backlog-slowdown': lower('Backlog', 'processor time per event with 10^6 entries waiting ÷ with 10^4', 1.1),
  'size-slowdown': lower('Size', 'processor time per event in a tenancy of 10^6 events ÷ of 10^4', 1.15),
  'size-memory': lower('Memory', 'MiB resident memory, tenancy of 10^6 events − of 10^4', 64),
  'great-size-slowdown': lower('Great size', 'processor time per event in a tenancy of 10^7 events ÷ of 10^4', 1.15),
  'great-size-memory': lower('Memory at a great size', 'MiB resident memory, tenancy of 10^7 events − of 10^4', 64),
  'registration-time-postgresql': lower('Registration, PostgreSQL', REGISTRATION, 8),
  'registration-time-embedded': lower('Registration, embedded', REGISTRATION, 15),
  'registrations-postgresql': higher('Registrations, PostgreSQL', REGISTRATIONS, 2500),
  'registrations-embedded': higher('Registrations, embedded', REGISTRATIONS, 700),
  'bulk-registrations': higher('Registrations in bulk', 'registrations/s, each with its receipt or its refusal', 4000),
  'posts-postgresql': higher('Event posts, PostgreSQL', POSTS, 0.55),
  'posts-embedded': higher('Event posts, embedded', POSTS, 0.25),
  'sustained-posts-postgresql': higher('Sustained posts, PostgreSQL', SUSTAINED, 2000),
  'sustained-posts-embedded': higher('Sustained posts, embedded', SUSTAINED, 700),
  'confirmed-time-postgresql': lower('Confirmation, PostgreSQL', CONFIRMED, 20),
  'confirmed-time-embedded': lower('Confirmation, embedded', CONFIRMED, 20),
  'console-time-postgresql': lower('Console, PostgreSQL', PAGES, 300),
  'console-time-embedded': lower('Console, embedded', PAGES, 300),
  'console-first-visit': lower('First visit of the console, signed in', VISIT, 1000),
  'sign-in-first-visit': lower('First visit of the console, to sign in', VISIT, 1000),
  'verifier-first-visit': lower('First visit of the verifier', VISIT, 1000),
  'receipts-over-http': higher('Receipts', 'receipts/s over HTTP, one connection pool, warm', 3000),
  'offline-verification': higher('Offline verification', 'signatures checked ÷ raw ES256 verifies', 0.6),
  'start-embedded-with-data': lower('Start, embedded with data', START, 2),
  'start-embedded-first': lower('First start, embedded', START, 4),
  'start-postgresql': lower('Start, PostgreSQL', START, 1.5),
  'memory-embedded': lower('Memory after a start, embedded', EMBEDDED_MEMORY, 400),
  'memory-postgresql': lower('Memory after a start, PostgreSQL', PART_MEMORY, 180),
  'loop-hold-postgresql': lower('Event loop, PostgreSQL', HOLD, 50),
  'loop-hold-embedded': lower('Event loop, embedded', HOLD, 50),
  'healthz-beside-rude-callers': lower('Rude callers, embedded', HEALTH, 100),
  'audit-leaves': higher('Audit', 'leaves/s made anew and compared, events without statements', 20_000),
  'audit-statements': higher(
    'Audit of statements',
    'leaves/s made anew and compared, every event with a statement',
    10_000,
  ),
  'tenancies-slowdown': higher('Tenancies', '10^5 events over 1,000 tenancies until sealed ÷ over one, by rate', 0.8),
} as const satisfies Record<string, Goal>;

export type GoalId = keyof typeof GOALS;
