import type { JobsOptions } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { Operation } from '../operation/operation.js';
import type { OperationEvent } from '../operation/operation-event.js';
import { OPERATION_QUEUE, operationJobId, RETRY_STRATEGY } from '../operation/operation-job.js';

/** Delivery is tried until the service has taken or refused the event: an outage of days loses nothing. */
const ATTEMPTS = 1_000_000_000;
/** A delivered job is remembered for a while, so that a conserver's replay is not delivered again. */
const REMEMBERED_SECONDS = 24 * 3600;
const REMEMBERED_JOBS = 20_000;

/** What every job of an operation asks for. */
export const JOB_OPTIONS: JobsOptions = {
  attempts: ATTEMPTS,
  backoff: { type: RETRY_STRATEGY },
  removeOnComplete: { age: REMEMBERED_SECONDS, count: REMEMBERED_JOBS },
  removeOnFail: false,
};

/**
 * Keeps an operation for delivery. Resolves with the job's id once it is on disk; the second capture of one operation
 * finds the first one's job, and sends it on its way again when it is a dead letter. For callers that are never refused.
 * @throws when the queue cannot promise to have kept it; it may have been kept
 */
export async function enqueueOperation(
  backend: QueueBackend,
  operation: Operation,
  event: OperationEvent,
): Promise<string> {
  const queue = backend.queue(OPERATION_QUEUE);
  const jobId = operationJobId(operation, event);
  await queue.add(operation.name, event, { ...JOB_OPTIONS, jobId });
  if ((await queue.getJobState(jobId)) === 'failed') await retryDeadLetter(backend, jobId);
  await backend.confirmDurable();
  return jobId;
}

/** Has a dead letter delivered again. */
export async function retryDeadLetter(backend: QueueBackend, jobId: string): Promise<void> {
  const queue = backend.queue(OPERATION_QUEUE);
  try {
    const job = await queue.getJob(jobId);
    await job?.retry('failed', { resetAttemptsMade: true });
  } catch (error) {
    // Two captures at once: the other one has retried it.
    if ((await queue.getJobState(jobId)) === 'failed') throw error;
  }
}
