import { join } from 'node:path';
import { isNoSpace } from '../../src/platform/disk/disk-full.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
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

/** The same memory. When its disk, which is that of the spool, has no room for a change, the watch is told. */
export function reportingMemory(memory: Memory, disk: Pick<DiskWatch, 'report'>): Memory {
  return {
    ...memory,
    async write(...change) {
      try {
        await memory.write(...change);
      } catch (error) {
        if (isNoSpace(error)) disk.report('spool');
        throw error;
      }
    },
  };
}

/**
 * The memory of what was captured and what left, which every plugin of a queue must share: one captures a vCon, and
 * another may see it leave. A queue in a database that several processes can open has no shared memory beside it: then
 * it is in the conserver's Redis, beside the list that all of them read.
 * @param memory what the plugin remembers otherwise; the result is the same if it is shared or of the only plugin
 */
export function openPassages(
  memory: Memory,
  { engine }: Pick<QueueBackend, 'engine'>,
  { url, list }: { readonly url: string; readonly list: string },
  logger: Logger,
): Memory {
  return engine === 'PostgreSQL' ? redisMemory(url, logger, `${list}:plugin`) : memory;
}
