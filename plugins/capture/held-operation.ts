import type { Job } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { Operation } from '../operation/operation.js';
import type { OperationEvent } from '../operation/operation-event.js';
import { OPERATION_QUEUE, operationJobId } from '../operation/operation-job.js';
import { JOB_OPTIONS, retryDeadLetter } from './enqueue-operation.js';

/**
 * A held job is delivered after this time without a release. By then its process has crashed between storing the
 * operation and responding, and the caller may have been told that it is stored.
 */
export const HELD_MS = 300_000;

/** An operation that is in the queue but not delivered until it is released. */
export interface HeldOperation {
  /** Id of its job. */
  readonly job: string;
  readonly name: string;
  readonly event: OperationEvent;
  /**
   * Allows its delivery; an earlier capture of it stays in place.
   * @returns false if another process has withdrawn it, whose capture of the same operation held it first
   * @throws when the queue does not answer; it may still have been released
   */
  release(): Promise<boolean>;
  /**
   * Removes it from the queue, unless it belongs to an earlier capture.
   * @returns false if it is already delivered, and can no longer be removed
   * @throws when the queue does not answer, or a worker is delivering it
   */
  withdraw(): Promise<boolean>;
}

/** A retry may have the same delay, if the service asks for it. */
function isHeld(job: Job | undefined): boolean {
  return job !== undefined && job.delay === HELD_MS && job.attemptsMade === 0 && job.finishedOn === undefined;
}

/**
 * Puts operations into the queue in one round trip; those that an earlier capture put there stay in place.
 * @throws when the queue does not answer; some of them may be in it
 */
export async function holdOperations(backend: QueueBackend, operations: readonly HeldOperation[]): Promise<void> {
  await backend.queue(OPERATION_QUEUE).addBulk(
    operations.map(({ job, name, event }) => ({
      name,
      data: event,
      opts: { ...JOB_OPTIONS, jobId: job, delay: HELD_MS },
    })),
  );
}

/** The operation of an event, before it is in the queue. */
export function heldOperation(backend: QueueBackend, operation: Operation, event: OperationEvent): HeldOperation {
  const queue = backend.queue(OPERATION_QUEUE);
  const job = operationJobId(operation, event);
  const stored = async () => (await queue.getJob(job)) as Job | undefined;
  let releasing = false;

  return {
    job,
    name: operation.name,
    event,
    async release() {
      const found = await stored();
      if (!found) return false;
      if (!isHeld(found)) {
        if ((await found.getState()) === 'failed') await retryDeadLetter(backend, job);
        return true;
      }
      releasing = true;
      try {
        await found.promote();
      } catch (error) {
        // Another capture of the same operation has released it.
        if (isHeld(await stored())) throw error;
      }
      return true;
    },
    async withdraw() {
      const found = await stored();
      if (!found || (!releasing && !isHeld(found))) return true;
      if ((await found.getState()) === 'completed') return false;
      await found.remove();
      return true;
    },
  };
}
