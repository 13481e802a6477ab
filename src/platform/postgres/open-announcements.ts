import type { Config } from '../config.js';
import type { Logger } from '../logger.js';
import { type Announcements, localAnnouncements } from './announcements.js';
import { notifiedAnnouncements } from './notified-announcements.js';

/** Opens the announcements of the configured database; a process with the embedded one is the only one. */
export function openAnnouncements({ databaseUrl }: Pick<Config, 'databaseUrl'>, logger: Logger): Announcements {
  return databaseUrl ? notifiedAnnouncements(databaseUrl, logger) : localAnnouncements();
}
