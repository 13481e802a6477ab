import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { OPERATION_QUEUE } from '../operation/operation-job.js';

/** Says what is wrong when several plugins work on a queue in PostgreSQL. */
export const UNSHARED =
  'each remembers consents and last hashes in its own DATA_DIR, so that changes of consent are missed or recorded twice, and the end of a vCon may have an older hash';
export const SHARE = 'set REDIS_URL for all of them';

/**
 * How many plugins work on a queue whose plugins share no memory; 0 for any other queue.
 * @throws when the queue does not answer
 */
export async function pluginsWithoutSharedMemory(backend: QueueBackend): Promise<number> {
  return backend.engine === 'PostgreSQL' ? backend.queue(OPERATION_QUEUE).getWorkersCount() : 0;
}
