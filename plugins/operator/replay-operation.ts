import type { Job } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { OPERATION_QUEUE } from '../operation/operation-job.js';
import { findJob } from './kept-operation.js';
import { OperatorError } from './operator-error.js';

const PAGE = 500;

/** Starts the delivery of a job; false when it is already being delivered. */
async function send(job: Job, state: string): Promise<boolean> {
  try {
    if (state === 'failed') await job.retry('failed', { resetAttemptsMade: true });
    else await job.promote();
    return true;
  } catch (error) {
    // In the meantime, the conserver has captured it again, or its retry was due.
    if ((await job.getState()) === state) throw error;
    return false;
  }
}

/**
 * Retries a dead letter, or a job that waits for its next attempt, under its own id: an event that the service already
 * has is not created again.
 * @throws {OperatorError} when there is no such job, or it cannot be retried
 */
export async function replayOperation(backend: QueueBackend, id: string): Promise<void> {
  const job = await findJob(backend, id);
  const state = await job.getState();
  if (state === 'completed') throw new OperatorError('the job is already delivered: there is nothing to replay');
  if (state === 'failed' || state === 'delayed') await send(job, state);
  await backend.confirmDurable();
}

/** Retries every dead letter. Resolves with their number; one that is refused again is not retried twice. */
export async function replayDeadLetters(backend: QueueBackend): Promise<number> {
  const queue = backend.queue(OPERATION_QUEUE);
  const letters = new Map<string, Job>();
  for (let from = 0; ; from += PAGE) {
    const jobs = (await queue.getJobs(['failed'], from, from + PAGE - 1, true)) as (Job | undefined)[];
    for (const job of jobs) if (job?.id) letters.set(job.id, job);
    if (jobs.length < PAGE) break;
  }
  let replayed = 0;
  for (const job of letters.values()) if (await send(job, 'failed')) replayed += 1;
  await backend.confirmDurable();
  return replayed;
}
