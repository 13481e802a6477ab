import type { JobType } from 'bullmq';
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { OPERATION_QUEUE } from '../conserver-link/operation-job.js';

/** How delivery stands. */
export interface DeliveryState {
  /** Operations that are kept and not delivered, dead letters aside. */
  readonly depth: number;
  /** Seconds since the oldest of them was captured; 0 when there is none. */
  readonly oldestSeconds: number;
  readonly deadLetters: number;
}

const UNDELIVERED: JobType[] = ['waiting', 'active', 'delayed', 'prioritized'];
/** Waiting jobs lie in the order of their capture, delayed ones in that of their next attempt: so many are looked at. */
const LOOKED_AT = 200;

/** Counts what waits in the queue. @throws when the queue does not answer */
export async function deliveryState(backend: QueueBackend, clock: Clock): Promise<DeliveryState> {
  const queue = backend.queue(OPERATION_QUEUE);
  const counts = await queue.getJobCounts(...UNDELIVERED, 'failed');
  const deadLetters = counts['failed'] ?? 0;
  const depth = UNDELIVERED.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  if (depth === 0) return { depth, oldestSeconds: 0, deadLetters };
  const jobs = await queue.getJobs(UNDELIVERED, 0, LOOKED_AT - 1, true);
  const oldest = Math.min(clock.now(), ...jobs.filter(Boolean).map((job) => job.timestamp));
  return { depth, oldestSeconds: (clock.now() - oldest) / 1000, deadLetters };
}

/** Shows the state of delivery in a registry. A scrape asks the queue once; a queue that does not answer shows as NaN. */
export function registerDeliveryMetrics(registry: Registry, state: () => Promise<DeliveryState>): void {
  let asked: Promise<DeliveryState> | undefined;
  const now = (): Promise<DeliveryState> => {
    asked ??= state().finally(() => {
      asked = undefined;
    });
    return asked;
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
  gauge('conserver_link_queue_depth', 'Operations that are captured and not delivered', ({ depth }) => depth);
  gauge('conserver_link_oldest_seconds', 'Age of the oldest of them', ({ oldestSeconds }) => oldestSeconds);
  gauge('conserver_link_dead_letters', 'Operations refused for good, kept with the reason', (now) => now.deadLetters);
}
