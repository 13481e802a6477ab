import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../src/platform/config.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import type { Logger } from '../../src/platform/logger.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { CLUSTER } from '../../src/platform/postgres/open-embedded.js';
import { openRedisQueues, postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { OperatorError } from './operator-error.js';

/** The part of the configuration that names a queue. */
export type QueueConfig = Pick<Config, 'redisUrl' | 'databaseUrl' | 'dataDir'>;

export interface OperatorQueue {
  readonly backend: QueueBackend;
  close(): Promise<void>;
}

/** A tool must not make the queue that it was asked about. */
async function requireEmbedded(dataDir: string): Promise<void> {
  await access(join(dataDir, 'embedded', CLUSTER)).catch(() => {
    throw new OperatorError(
      `there is no queue in ${dataDir}: set REDIS_URL or DATABASE_URL as the plugin has it, or DATA_DIR to its folder`,
    );
  });
}

async function openDatabaseOf(config: QueueConfig, logger: Logger) {
  if (!config.databaseUrl) await requireEmbedded(config.dataDir);
  try {
    return await openDatabase(config, logger);
  } catch (error) {
    const reason = failureReason(error);
    if (config.databaseUrl || !reason.includes('another process uses')) throw new OperatorError(reason);
    throw new OperatorError(
      `the embedded queue in ${config.dataDir} belongs to the service or plugin that runs there and cannot be opened beside it: stop that first, or run on REDIS_URL or DATABASE_URL, whose queues can be seen at any time`,
    );
  }
}

/**
 * The queue that a plugin under the same configuration works on: Redis where it is configured, else the configured
 * PostgreSQL, else the embedded one, which only one process can have open.
 * @throws {OperatorError}
 */
export async function openOperatorQueue(config: QueueConfig, logger: Logger): Promise<OperatorQueue> {
  if (config.redisUrl) {
    const backend = await openRedisQueues(config.redisUrl, logger).catch((error: unknown) => {
      throw new OperatorError(failureReason(error));
    });
    return { backend, close: () => backend.close() };
  }
  const database = await openDatabaseOf(config, logger);
  const backend = postgresQueues(database, logger);
  return {
    backend,
    async close() {
      await backend.close();
      await database.close();
    },
  };
}
