import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../../plugins/operator/operator-error.js';
import { failureReason } from '../../platform/explain-failure.js';
import type { Logger } from '../../platform/logger.js';
import { CLUSTER } from '../../platform/postgres/open-embedded.js';
import { openPluginQueue, type PluginQueue, type QueueConfig } from './open-plugin-queue.js';

/** A tool must not create the queue that it was asked about. */
async function requireEmbedded(dataDir: string): Promise<void> {
  await access(join(dataDir, 'embedded', CLUSTER)).catch(() => {
    throw new OperatorError(
      `there is no queue in ${dataDir}: set REDIS_URL or DATABASE_URL as the plugin has it, or DATA_DIR to its folder`,
    );
  });
}

/**
 * Opens the queue that a plugin under the same configuration works on. The embedded one can be open in one process only.
 * @throws {OperatorError}
 */
export async function openOperatorQueue(config: QueueConfig, logger: Logger): Promise<PluginQueue> {
  const embedded = !config.redisUrl && !config.databaseUrl;
  if (embedded) await requireEmbedded(config.dataDir);
  try {
    return await openPluginQueue(config, logger);
  } catch (error) {
    const reason = failureReason(error);
    if (!embedded || !reason.includes('another process uses')) throw new OperatorError(reason);
    throw new OperatorError(
      `the embedded queue in ${config.dataDir} belongs to the service or plugin that runs there and cannot be opened beside it: stop that first, or run on REDIS_URL or DATABASE_URL, whose queues can be seen at any time`,
    );
  }
}
