import { type Job, type JobsOptions, UnrecoverableError } from 'bullmq';
import { VerificationError } from '../../src/core/index.js';
import type { Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { ServiceKeys } from '../archivist-client/archivist-client.js';
import type { ArchivistClients } from '../archivist-client/archivist-clients.js';
import { DeliverLater, EventRefused } from '../archivist-client/delivery-failure.js';
import { RETRY_PACE, type RetryPace, retryDelay } from '../archivist-client/retry-delay.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import type { Memory } from '../memory/memory.js';
import { RETRY_STRATEGY } from '../operation/operation-job.js';
import { publishReceipt, type ReceiptPlaces } from './publish-receipt.js';
import { type KeptReceipt, RECEIPT_QUEUE, type ReceiptJob, receiptName } from './receipt-job.js';
import { verifyReceiptHome } from './verify-receipt-home.js';

const CONCURRENCY = 8;
const KEYS_FOR_MS = 3_600_000;
const MAX_STALLED = 1_000_000;
/** A log is sealed within a second or two after a delivery. */
const FIRST_LOOK_MS = 1_500;
/** Several days at the slowest pace: a service without receipts is not polled forever. */
const OPTIONS: JobsOptions = {
  attempts: 5_000,
  backoff: { type: RETRY_STRATEGY },
  removeOnComplete: true,
  removeOnFail: { age: 30 * 86_400, count: 10_000 },
};

interface ReceiptWorkerParts {
  readonly backend: QueueBackend;
  readonly clients: ArchivistClients;
  readonly memory: Memory;
  readonly places: ReceiptPlaces;
  readonly metrics: Pick<OperationMetrics, 'receiptHome'>;
  readonly clock: Clock;
  readonly clockIsWrong: () => boolean;
  readonly logger: Logger;
  readonly random: () => number;
  readonly pace?: RetryPace;
}

/**
 * Schedules fetching the receipt of a delivered event. Idempotent.
 * @param clockIsWrong then it is not delayed, because the queue adds the delay to this clock
 */
export async function expectReceipt(
  backend: QueueBackend,
  operation: string,
  id: string,
  job: ReceiptJob,
  clockIsWrong: boolean,
): Promise<void> {
  await backend
    .queue(RECEIPT_QUEUE)
    .add(operation, job, { ...OPTIONS, jobId: id, delay: clockIsWrong ? 0 : FIRST_LOOK_MS });
}

/**
 * Fetches receipts until it is closed. Each is verified against the captured hash, and stored by vCon and hash, never
 * in the vCon. One that does not verify stays as a failed job with its reason.
 */
export function startReceiptWorker(parts: ReceiptWorkerParts): { close(): Promise<void> } {
  const { backend, clients, memory, places, metrics, clock, clockIsWrong, logger, random, pace = RETRY_PACE } = parts;
  let keys: { readonly read: ServiceKeys; readonly untilMs: number } | undefined;

  async function serviceKeys(job: ReceiptJob, anew: boolean): Promise<ServiceKeys> {
    if (keys && !anew && clock.now() < keys.untilMs) return keys.read;
    keys = { read: await clients(job.tenancy).serviceKeys(), untilMs: clock.now() + KEYS_FOR_MS };
    return keys.read;
  }

  async function verify(bytes: Uint8Array, job: ReceiptJob): Promise<void> {
    try {
      await verifyReceiptHome(bytes, job, await serviceKeys(job, false));
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      // The service may have a new key since the last request.
      await verifyReceiptHome(bytes, job, await serviceKeys(job, true));
    }
  }

  async function bringHome(job: Job): Promise<void> {
    const expected = job.data as ReceiptJob;
    const bytes = await clients(expected.tenancy).transparentStatement(expected.event);
    await verify(bytes, expected);
    const kept: KeptReceipt = {
      event: expected.event,
      operation: job.name,
      statement: Buffer.from(bytes).toString('base64'),
      verifiedAt: new Date(clock.now()).toISOString(),
    };
    await memory.write('receipts', receiptName(expected), { [job.id!]: JSON.stringify(kept) });
    await publishReceipt(places, expected, bytes);
    metrics.receiptHome(job.name);
  }

  async function work(job: Job): Promise<void> {
    try {
      await bringHome(job);
    } catch (error) {
      if (error instanceof VerificationError) {
        logger.error({ job: job.id, reason: error.message }, 'a receipt does not verify: it is not stored');
        throw new UnrecoverableError(error.message);
      }
      // Not sealed yet, or a service without this endpoint: both respond with 404.
      throw error instanceof EventRefused ? new DeliverLater(error.message) : error;
    }
  }

  const worker = backend.worker(RECEIPT_QUEUE, work, {
    concurrency: CONCURRENCY,
    maxStalledCount: MAX_STALLED,
    settings: {
      backoffStrategy: (attempts, _type, error) => (clockIsWrong() ? 0 : retryDelay(attempts, error, random, pace)),
    },
  });
  return { close: () => worker.close() };
}
