import type { Job } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { Operation } from '../operation/operation.js';
import type { OperationEvent } from '../operation/operation-event.js';
import { OPERATION_QUEUE, operationJobId } from '../operation/operation-job.js';
import { JOB_OPTIONS, retryDeadLetter } from './enqueue-operation.js';

/**
 * A held job is delivered by itself after this time. Its process has died by then, between keeping the operation and
 * answering: a caller may have been told that it is kept.
 */
export const HELD_MS = 300_000;

/** An operation that lies in the queue and is not delivered until it is released. */
export interface HeldOperation {
  /** Id of its job. */
  readonly job: string;
  /** Puts it into the queue; where an earlier capture of it is there, that one stands. @throws when the queue does not answer */
  hold(): Promise<void>;
  /** Lets it be delivered. @throws when the queue does not answer; it may be released then */
  release(): Promise<void>;
  /**
   * Takes it out of the queue, unless an earlier capture of it stands.
   * @throws when the queue does not answer, or a worker has it at this moment
   */
  withdraw(): Promise<void>;
}

function isHeld(job: Job | undefined): boolean {
  return job !== undefined && job.delay === HELD_MS && job.finishedOn === undefined;
}

/** The operation of an event, before it is in the queue. */
export function heldOperation(backend: QueueBackend, operation: Operation, event: OperationEvent): HeldOperation {
  const queue = backend.queue(OPERATION_QUEUE);
  const job = operationJobId(operation, event);
  const stored = async () => (await queue.getJob(job)) as Job | undefined;
  let earlier = false;
  let releasing = false;

  return {
    job,
    async hold() {
      await queue.add(operation.name, event, { ...JOB_OPTIONS, jobId: job, delay: HELD_MS });
      earlier = !isHeld(await stored());
    },
    async release() {
      releasing = true;
      if (earlier) {
        if ((await queue.getJobState(job)) === 'failed') await retryDeadLetter(backend, job);
        return;
      }
      try {
        await (await stored())?.promote();
      } catch (error) {
        // Another capture of the same operation has released it.
        if (isHeld(await stored())) throw error;
      }
    },
    async withdraw() {
      const found = await stored();
      if (earlier || !found || (!releasing && !isHeld(found))) return;
      if ((await found.getState()) === 'completed') throw new Error('the operation is delivered already');
      await found.remove();
    },
  };
}
