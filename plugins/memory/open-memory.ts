import { join } from 'node:path';
import type { Logger } from '../../src/platform/logger.js';
import { fileMemory } from './file-memory.js';
import type { Memory } from './memory.js';
import { redisMemory } from './redis-memory.js';

const FOLDER = 'plugin';

/** The folder of `DATA_DIR` in which a plugin keeps what it does not keep in Redis. */
export function pluginFolder(dataDir: string): string {
  return join(dataDir, FOLDER);
}

/** Where a plugin keeps what does not go through its queue. */
export interface MemoryPlace {
  readonly redisUrl: string | undefined;
  readonly dataDir: string;
}

/** What the plugin remembers: in Redis where that is configured, else in `DATA_DIR`. */
export function openMemory({ redisUrl, dataDir }: MemoryPlace, logger: Logger): Memory {
  return redisUrl ? redisMemory(redisUrl, logger) : fileMemory(join(pluginFolder(dataDir), 'memory'));
}
