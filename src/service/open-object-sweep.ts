import type { Clock } from '../platform/clock.js';
import { type Feature, HOUSEKEEPING_ROLES } from '../platform/feature.js';
import type { Logger } from '../platform/logger.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { startSweepUnfinishedJob } from '../platform/queue/sweep-unfinished-job.js';

interface SweepBase {
  readonly objectStore: ObjectStore;
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
  readonly logger: Logger;
}

/** Removes what killed processes left in the object store. */
export function openObjectSweep(base: SweepBase): Feature {
  const start = () => startSweepUnfinishedJob({ ...base, clock: base.rightClock });
  return { jobs: [{ roles: HOUSEKEEPING_ROLES, start }] };
}
