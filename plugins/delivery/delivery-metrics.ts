import type { Job, JobType } from 'bullmq';
import { Gauge, type Registry } from 'prom-client';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { within } from '../../src/platform/time-limit.js';
import { OPERATION_QUEUE, type OperationJob } from '../operation/operation-job.js';

/** The waiting jobs of one operation. */
interface OperationState {
  readonly depth: number;
  readonly oldestSeconds: number;
}

/** The state of delivery. */
export interface DeliveryState {
  /** Operations that are stored but not delivered, without dead letters. */
  readonly depth: number;
  /** Age in seconds of the oldest one whose time of capture is known; 0 if there is none. */
  readonly oldestSeconds: number;
  readonly deadLetters: number;
  /** The same by operation, among the oldest 1,000. */
  readonly operations: Readonly<Record<string, OperationState>>;
}

const UNDELIVERED: JobType[] = ['waiting', 'active', 'delayed', 'prioritized'];
/** Waiting jobs are in the order of their capture, delayed ones in that of their next attempt; this many are read. */
const LOOKED_AT = 1_000;
/** A queue that is opened while Redis is away waits for it without end, and Prometheus gives up a scrape after 10 s. */
const ANSWER_WITHIN_MS = 2_000;

/** The seconds since an operation was captured; 0 if a wrong clock captured it. */
export function ageOf({ data }: Pick<Job, 'data'>, nowMs: number): number {
  const observed = (data as OperationJob).attributes['timestamp_observed'];
  return observed === undefined ? 0 : Math.max(0, (nowMs - Date.parse(observed)) / 1000);
}

/**
 * Counts the jobs in the queue.
 * @param nowMs NaN if the clock is wrong: then ages are NaN too
 * @throws when the queue does not answer
 */
export async function deliveryState(backend: QueueBackend, nowMs: number): Promise<DeliveryState> {
  const queue = backend.queue(OPERATION_QUEUE);
  const counts = await queue.getJobCounts(...UNDELIVERED, 'failed');
  const deadLetters = counts['failed'] ?? 0;
  const depth = UNDELIVERED.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  if (depth === 0) return { depth, oldestSeconds: 0, deadLetters, operations: {} };
  const jobs = (await queue.getJobs(UNDELIVERED, 0, LOOKED_AT - 1, true)).filter(Boolean).slice(0, LOOKED_AT);
  const operations: Record<string, OperationState> = {};
  for (const { name, data } of jobs) {
    const { depth: counted = 0, oldestSeconds = 0 } = operations[name] ?? {};
    operations[name] = { depth: counted + 1, oldestSeconds: Math.max(oldestSeconds, ageOf({ data }, nowMs)) };
  }
  const oldestSeconds = Math.max(0, ...Object.values(operations).map((each) => each.oldestSeconds));
  return { depth, oldestSeconds, deadLetters, operations };
}

/**
 * Reports the state of delivery in a registry. Each scrape queries the queue once; if it does not answer in time,
 * values are NaN.
 */
export function registerDeliveryMetrics(registry: Registry, state: () => Promise<DeliveryState>): void {
  let asked: Promise<DeliveryState> | undefined;
  const now = (): Promise<DeliveryState> => {
    asked ??= state().finally(() => {
      asked = undefined;
    });
    return within(ANSWER_WITHIN_MS, asked, 'the queue did not answer in time');
  };
  const gauge = (name: string, help: string, of: (state: DeliveryState) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await now().then(of, () => Number.NaN));
      },
    });
  };
  const byOperation = (name: string, help: string, of: (state: OperationState) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['operation'],
      registers: [registry],
      async collect() {
        this.reset();
        const { operations } = await now().catch(() => ({ operations: {} }));
        for (const [operation, each] of Object.entries(operations)) this.set({ operation }, of(each));
      },
    });
  };
  byOperation(
    'conserver_link_queued',
    'Operations that wait for delivery, among the oldest 1,000',
    ({ depth }) => depth,
  );
  byOperation('conserver_link_queued_oldest_seconds', 'Age of the oldest of them', (each) => each.oldestSeconds);
  gauge('conserver_link_queue_depth', 'Operations that are captured but not delivered', ({ depth }) => depth);
  gauge('conserver_link_oldest_seconds', 'Age of the oldest of them', ({ oldestSeconds }) => oldestSeconds);
  gauge(
    'conserver_link_dead_letters',
    'Operations that were refused permanently, stored with the reason',
    (now) => now.deadLetters,
  );
}
