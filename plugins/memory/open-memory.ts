import { join } from 'node:path';
import type { Logger } from '../../src/platform/logger.js';
import { fileMemory } from './file-memory.js';
import type { Memory } from './memory.js';
import { redisMemory } from './redis-memory.js';

const FOLDER = 'plugin';

/** The folder in `DATA_DIR` for what a plugin does not store in Redis. */
export function pluginFolder(dataDir: string): string {
  return join(dataDir, FOLDER);
}

/** Where a plugin stores what is not in its queue. */
export interface MemoryPlace {
  readonly redisUrl: string | undefined;
  readonly dataDir: string;
}

/**
 * The plugin's memory: in Redis if configured, else in `DATA_DIR`.
 * @param now NaN while the clock is wrong
 */
export function openMemory({ redisUrl, dataDir }: MemoryPlace, logger: Logger, now?: () => number): Memory {
  return redisUrl ? redisMemory(redisUrl, logger) : fileMemory(join(pluginFolder(dataDir), 'memory'), now);
}
