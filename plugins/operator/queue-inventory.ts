import type { Clock } from '../../src/platform/clock.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { spoolState } from '../capture/spool-folder.js';
import { type DeliveryState, deliveryState } from '../delivery/delivery-metrics.js';
import { OPERATION_QUEUE } from '../operation/operation-job.js';
import { type KeptOperation, keptOperation } from './kept-operation.js';
import { listSetAside, type SetAsideList, type SetAsidePlaces } from './set-aside.js';

/** The state of the queue, its dead letters (newest first), and everything that is set aside elsewhere. */
export interface QueueInventory extends DeliveryState, SetAsideList {
  readonly engine: QueueBackend['engine'];
  /** At most the requested number; `deadLetters` counts all. */
  readonly letters: readonly KeptOperation[];
  /** Operations on the local disk that wait for the queue. */
  readonly spool: { readonly folder: string; readonly depth: number; readonly oldestSeconds: number };
}

/** @param most dead letters to list; @throws when the queue does not answer */
export async function queueInventory(places: SetAsidePlaces, clock: Clock, most: number): Promise<QueueInventory> {
  const { backend, spool: folder } = places;
  const state = await deliveryState(backend, clock.now());
  const jobs = most === 0 ? [] : await backend.queue(OPERATION_QUEUE).getJobs(['failed'], 0, most - 1, false);
  // A job that was taken between the two queries is omitted.
  const letters = jobs.filter(Boolean).map((job) => keptOperation(job, 'failed'));
  const { depth, oldestSeconds } = await spoolState(folder, clock.now());
  const aside = await listSetAside(places, clock.now(), most);
  return { engine: backend.engine, ...state, letters, spool: { folder, depth, oldestSeconds }, ...aside };
}
