import { type Job, UnrecoverableError } from 'bullmq';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { ArchivistClients } from '../archivist-client/archivist-clients.js';
import { EventRefused } from '../archivist-client/delivery-failure.js';
import { RETRY_PACE, type RetryPace, retryDelay } from '../archivist-client/retry-delay.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import { OPERATION_QUEUE, type OperationJob } from '../operation/operation-job.js';
import type { ReceiptJob } from '../receipts/receipt-job.js';
import { expectReceipt } from '../receipts/receipt-worker.js';
import { deliverOperation } from './deliver-operation.js';

const CONCURRENCY = 8;
/** Concurrent jobs when events are sent in bulk requests. */
const BULK_CONCURRENCY = 64;
const REMEMBERED_ASSETS = 50_000;
/** A job whose worker crashed is retried regardless of how often that happens: a crash is not the event's fault. */
const MAX_STALLED = 1_000_000;

/** Where it is said what became of an event. */
interface DeliveryReport {
  readonly metrics: Pick<OperationMetrics, 'delivered' | 'retried' | 'dead'>;
  readonly logger: Logger;
}

interface DeliveryParts extends DeliveryReport {
  readonly backend: QueueBackend;
  readonly clients: ArchivistClients;
  readonly random: () => number;
  readonly clockIsWrong: () => boolean;
  readonly pace?: RetryPace;
  /** Many events go in one request, so more jobs run concurrently. */
  readonly bulk?: boolean;
  /** Fetch the receipts of delivered events. */
  readonly receipts?: boolean;
  /** Ids of jobs whose capture was refused: they are not delivered. */
  readonly withdrawn?: ReadonlySet<string>;
}

/** The service makes statements only for vCons. */
const VCON = 'vcon://';

function receiptOf({ subject, payload, tenancy }: OperationJob, event: string): ReceiptJob {
  return { event, subject, payload, ...(tenancy ? { tenancy } : {}) };
}

/** Counts and logs why an event was not delivered. @returns what tells the queue whether to try again */
function failure(job: Job, error: unknown, { metrics, logger }: DeliveryReport): unknown {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof EventRefused) {
    metrics.dead(job.name);
    const { subject } = job.data as OperationJob;
    logger.error(
      { job: job.id, subject, reason },
      'the service refused an event permanently: it is a dead letter. See "vcon-archivist queue show <job>"',
    );
    return new UnrecoverableError(reason);
  }
  metrics.retried(job.name);
  logger.warn({ job: job.id, attempts: job.attemptsMade + 1, reason }, 'a delivery failed; it is retried');
  return error;
}

/** Delivers captured operations until it is closed. A permanently refused one becomes a dead letter with its reason. */
export function startDelivery(parts: DeliveryParts): { close(): Promise<void> } {
  const { backend, clients, metrics, random, clockIsWrong, pace = RETRY_PACE, bulk, receipts, withdrawn } = parts;
  const cache = new LRUCache<string, string>({ max: REMEMBERED_ASSETS });

  async function deliver(job: Job): Promise<string> {
    const operation = job.data as OperationJob;
    // It is removed from the queue as soon as no worker has it.
    if (withdrawn?.has(job.id!)) throw new UnrecoverableError('its capture was refused');
    try {
      const delivered = await deliverOperation(clients(operation.tenancy), cache, job.id!, operation);
      // A crash before the job is completed delivers it again, to the same event, and expects its receipt under the
      // same id.
      if (receipts && operation.subject.startsWith(VCON))
        await expectReceipt(backend, job.name, job.id!, receiptOf(operation, delivered), clockIsWrong());
      metrics.delivered(job.name);
      return delivered;
    } catch (error) {
      throw failure(job, error, parts);
    }
  }

  const worker = backend.worker(OPERATION_QUEUE, deliver, {
    concurrency: bulk ? BULK_CONCURRENCY : CONCURRENCY,
    maxStalledCount: MAX_STALLED,
    // The queue adds the delay to this clock: one that is ahead would put the job off for as long.
    settings: {
      backoffStrategy: (attempts, _type, error) => (clockIsWrong() ? 0 : retryDelay(attempts, error, random, pace)),
    },
  });
  return { close: () => worker.close() };
}
