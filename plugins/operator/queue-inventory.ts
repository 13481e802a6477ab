import type { Clock } from '../../src/platform/clock.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { type DeliveryState, deliveryState } from '../delivery/delivery-metrics.js';
import { OPERATION_QUEUE } from '../operation/operation-job.js';
import { type KeptOperation, keptOperation } from './kept-operation.js';

/** How the queue stands, and its dead letters, the newest first. */
export interface QueueInventory extends DeliveryState {
  readonly engine: QueueBackend['engine'];
  /** At most as many as were asked for; `deadLetters` counts all. */
  readonly letters: readonly KeptOperation[];
}

/** @param most dead letters to list; @throws when the queue does not answer */
export async function queueInventory(backend: QueueBackend, clock: Clock, most: number): Promise<QueueInventory> {
  const state = await deliveryState(backend, clock);
  const jobs = most === 0 ? [] : await backend.queue(OPERATION_QUEUE).getJobs(['failed'], 0, most - 1, false);
  // A job that was taken up between the two questions is listed as nothing.
  const letters = jobs.filter(Boolean).map((job) => keptOperation(job, 'failed'));
  return { engine: backend.engine, ...state, letters };
}
