import { closeAll } from '../../platform/close-all.js';
import type { Logger } from '../../platform/logger.js';
import { openDatabase } from '../../platform/postgres/open-database.js';
import type { DatabaseDisk } from '../../platform/postgres/pooled-database.js';
import { openRedisQueues, postgresQueues } from '../../platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import type { Config } from '../../service/config/config.js';

/** The part of the configuration that names a queue. */
export type QueueConfig = Pick<Config, 'redisUrl' | 'databaseUrl' | 'dataDir'>;

/** The queue of a plugin, and what it was opened in. */
export interface PluginQueue {
  readonly backend: QueueBackend;
  close(): Promise<void>;
}

/** Opens Redis where it is configured, else the configured PostgreSQL, else an embedded one in `DATA_DIR`. */
export async function openPluginQueue(config: QueueConfig, logger: Logger, disk?: DatabaseDisk): Promise<PluginQueue> {
  if (config.redisUrl) {
    const backend = await openRedisQueues(config.redisUrl, logger);
    return { backend, close: () => backend.close() };
  }
  const database = await openDatabase(config, logger, disk ? { disk } : {});
  const backend = postgresQueues(database, logger);
  return { backend, close: () => closeAll([() => database.close(), () => backend.close()]) };
}
