import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { NoQueueYet, OperatorError, QueueInUse } from '../../../plugins/operator/operator-error.js';
import { failureReason } from '../../platform/explain-failure.js';
import type { Logger } from '../../platform/logger.js';
import { CLUSTER } from '../../platform/postgres/open-embedded.js';
import { openPluginQueue, type PluginQueue, type QueueConfig } from './open-plugin-queue.js';

/** Looking at a queue must not create it. */
async function requireEmbedded(dataDir: string): Promise<void> {
  await access(join(dataDir, 'embedded', CLUSTER)).catch(() => {
    throw new NoQueueYet(
      `there is no queue in ${dataDir}: set REDIS_URL, DATABASE_URL or DATA_DIR to the values that the plugin uses`,
    );
  });
}

/**
 * Opens the queue of a plugin that has the same configuration. Only one process can open the embedded queue.
 * @throws {NoQueueYet} if nothing has run in `DATA_DIR`
 * @throws {QueueInUse} if another process has the embedded queue open
 * @throws {OperatorError} if the queue cannot be opened for another reason
 */
export async function openOperatorQueue(config: QueueConfig, logger: Logger): Promise<PluginQueue> {
  const embedded = !config.redisUrl && !config.databaseUrl;
  if (embedded) await requireEmbedded(config.dataDir);
  try {
    return await openPluginQueue(config, logger);
  } catch (error) {
    const reason = failureReason(error);
    if (!embedded || !reason.includes('another process uses')) throw new OperatorError(reason);
    throw new QueueInUse(
      `the embedded queue in ${config.dataDir} is in use by the running service or plugin, and only one process can open it: stop that process, or keep the queue in Redis (REDIS_URL) or PostgreSQL (DATABASE_URL), which several processes can open`,
    );
  }
}
