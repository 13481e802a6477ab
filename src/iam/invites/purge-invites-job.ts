import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { deleteExpiredInvites } from './invite-store.js';

const ONCE_A_DAY = '37 4 * * *';
/** Until then, Owners can see that an invite was not accepted. */
const KEPT_MS = 30 * 24 * 3_600_000;

export interface PurgeInvitesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly backend: QueueBackend;
}

/**
 * Once a day, deletes the invites that expired more than thirty days ago: each has the address of a person who never joined.
 * @param pattern of the schedule, in UTC
 */
export function startPurgeInvitesJob(deps: PurgeInvitesDeps, pattern = ONCE_A_DAY): Promise<ScheduledJob> {
  const { database, clock } = deps;
  return startScheduledJob(deps, {
    name: 'invite-purge',
    pattern,
    run: async () => {
      const before = new Date(clock.now() - KEPT_MS);
      return { deleted: await database.inTransaction('system', (tx) => deleteExpiredInvites(tx, before)) };
    },
  });
}
