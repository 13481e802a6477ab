import type { Clock } from '../clock.js';
import type { Logger } from '../logger.js';
import type { ObjectStore } from '../object-store.js';
import type { QueueBackend } from './queue-backend.js';
import { type ScheduledJob, startScheduledJob } from './scheduled-job.js';

const ONCE_A_DAY = '43 4 * * *';
/** A seal is staged for seconds; the slowest upload writes again within minutes. */
const SAFE_AGE_MS = 24 * 60 * 60 * 1000;

/** Once a day, removes what killed processes left in the object store beside their transactions. */
export function startSweepUnfinishedJob(deps: {
  readonly objectStore: ObjectStore;
  readonly clock: Clock;
  readonly backend: QueueBackend;
  readonly logger: Logger;
}): Promise<ScheduledJob> {
  const { objectStore, clock } = deps;
  return startScheduledJob(deps, {
    name: 'unfinished-sweep',
    pattern: ONCE_A_DAY,
    run: async () => ({ removed: await objectStore.removeUnfinished(new Date(clock.now() - SAFE_AGE_MS)) }),
  });
}
