import type { Job } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { EventAttributes } from '../operation/operation-event.js';
import { OPERATION_QUEUE, type OperationJob } from '../operation/operation-job.js';
import { OperatorError } from './operator-error.js';
import { isSetAsideId } from './set-aside.js';

/** An operation in the queue, as an operator sees it. */
export interface KeptOperation {
  readonly job: string;
  /** BullMQ's name of the state; `failed` is a dead letter. */
  readonly state: string;
  readonly operation: string;
  /** `vcon://<uuid>` */
  readonly subject: string;
  /** Hex SHA-256 of the bytes that were received. */
  readonly payload: string;
  /** RFC 3339. */
  readonly keptAt: string;
  /** Delivery attempts so far. */
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly reason?: string;
}

export interface KeptOperationDetails extends KeptOperation {
  /** The event as it will be recorded in the log. */
  readonly attributes: EventAttributes;
}

/** Returns the job with this id. @throws {OperatorError} when it is not in the queue */
export async function findJob(backend: QueueBackend, id: string): Promise<Job> {
  if (isSetAsideId(id))
    throw new OperatorError(
      `${id.slice(0, 200)} is not a job, but a set-aside item: vcon-archivist queue shows why, and queue replay retries it`,
    );
  const job = (await backend.queue(OPERATION_QUEUE).getJob(id)) as Job | undefined;
  if (!job)
    throw new OperatorError(`the queue has no job ${id.slice(0, 64)}: it was delivered long ago, or never stored`);
  return job;
}

export function keptOperation(job: Job, state: string): KeptOperation {
  const { subject, payload } = job.data as OperationJob;
  return {
    job: job.id!,
    state,
    operation: job.name,
    subject,
    payload,
    keptAt: new Date(job.timestamp).toISOString(),
    attempts: job.attemptsMade,
    ...(job.failedReason ? { reason: job.failedReason } : {}),
  };
}

/** Returns one operation with everything that is stored of it. @throws {OperatorError} when it is not in the queue */
export async function showOperation(backend: QueueBackend, id: string): Promise<KeptOperationDetails> {
  const job = await findJob(backend, id);
  const kept = keptOperation(job, await job.getState());
  return { ...kept, attributes: (job.data as OperationJob).attributes };
}
