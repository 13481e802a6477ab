import type { Logger } from '../logger.js';
import { type Announcements, localAnnouncements } from './announcements.js';
import { notifiedAnnouncements } from './notified-announcements.js';
import type { DatabasePlace } from './open-database.js';

/** Opens the announcements of the configured database; a process with the embedded one is the only one. */
export function openAnnouncements({ databaseUrl }: Pick<DatabasePlace, 'databaseUrl'>, logger: Logger): Announcements {
  return databaseUrl ? notifiedAnnouncements(databaseUrl, logger) : localAnnouncements();
}
