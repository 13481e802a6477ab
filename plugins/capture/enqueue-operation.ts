import type { JobsOptions } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { Operation } from '../operation/operation.js';
import type { OperationEvent } from '../operation/operation-event.js';
import { OPERATION_QUEUE, operationJobId, RETRY_STRATEGY } from '../operation/operation-job.js';

/** Delivery is retried until the service accepts or refuses the event: an outage of days loses nothing. */
const ATTEMPTS = 1_000_000_000;
/** A delivered job is remembered for this long, so that a conserver's replay is not delivered again. */
const REMEMBERED_SECONDS = 24 * 3600;
const REMEMBERED_JOBS = 20_000;

/** Options of every operation's job. */
export const JOB_OPTIONS: JobsOptions = {
  attempts: ATTEMPTS,
  backoff: { type: RETRY_STRATEGY },
  removeOnComplete: { age: REMEMBERED_SECONDS, count: REMEMBERED_JOBS },
  removeOnFail: false,
};

/**
 * Stores an operation for delivery. Resolves with the job's id once it is on disk. A second capture of the same
 * operation finds the first job, and retries it if it is a dead letter. For callers that are never refused.
 * @throws when the queue cannot guarantee that it is stored; it may still be
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

/** Retries a dead letter. */
export async function retryDeadLetter(backend: QueueBackend, jobId: string): Promise<void> {
  const queue = backend.queue(OPERATION_QUEUE);
  try {
    const job = await queue.getJob(jobId);
    await job?.retry('failed', { resetAttemptsMade: true });
  } catch (error) {
    // A concurrent capture has already retried it.
    if ((await queue.getJobState(jobId)) === 'failed') throw error;
  }
}
