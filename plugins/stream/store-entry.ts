import type { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';
import { untilReady } from '../../src/platform/queue/reading-redis.js';
import type { CaptureOperation } from '../capture/capture-operation.js';
import type { EndingFound } from '../operation/ending.js';
import { OperationError } from '../operation/operation.js';
import type { RedisClock } from './redis-clock.js';
import type { StreamGroup } from './stream-group.js';
import { RecordError, readEndingEntry, readStreamEntry } from './stream-record.js';

interface StoringParts {
  readonly redis: Redis;
  readonly group: StreamGroup;
  /** The stream of invalid entries. */
  readonly refusedInto: string;
  readonly capture: CaptureOperation;
  /** Stores the end of a vCon. Resolves when it is on disk. */
  ended(found: EndingFound): Promise<void>;
  /** Counts invalid entries. */
  refused(): void;
  /** Ids of invalid entries that could not be set aside yet. */
  readonly invalid: Set<string>;
  /** Waits before the next attempt. */
  pause(): Promise<void>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Sets an invalid entry aside. If that fails, as in a Redis that is full, it stays with this consumer, and is taken again
 * as an abandoned one: those behind it do not wait for it.
 */
async function refuse(parts: StoringParts, id: string, fields: readonly string[], reason: string): Promise<void> {
  const { group, invalid, logger } = parts;
  try {
    if (await group.setAside(id, parts.refusedInto, ['entry', id, 'reason', reason, ...fields])) parts.refused();
    logger.error({ id, reason }, 'an entry of the stream is not a valid record: it is set aside');
    invalid.delete(id);
  } catch (error) {
    invalid.add(id);
    logger.warn({ err: error, id, reason }, 'an entry of the stream is not a valid record and stays there for now');
  }
}

/**
 * Stores an entry, and then removes it from the stream. Retries until that succeeds or the signal comes: those behind it
 * wait in the stream, as for a full queue. An invalid entry is set aside, and nothing waits for it.
 * @param shown what the clock of its Redis showed after the entry was read; undefined if not known
 */
export async function storeEntry(
  parts: StoringParts,
  id: string,
  fields: readonly string[],
  shown: RedisClock | undefined,
): Promise<void> {
  const { redis, group, invalid, signal, logger } = parts;
  while (!signal.aborted) {
    try {
      const ending = readEndingEntry(id, fields, shown);
      // An older entry may be the vCon's last state. It comes before this one in the batch, so it is another consumer's,
      // or a dead one's: the end is taken again with what dead consumers leave.
      if (ending && (await group.hasPendingBefore(id, invalid))) return;
      if (ending) await parts.ended(ending);
      else await parts.capture(readStreamEntry(id, fields, shown));
      return await group.finish(id);
    } catch (error) {
      if (error instanceof RecordError || error instanceof OperationError)
        return refuse(parts, id, fields, error.message);
      logger.warn({ err: error, id }, 'an entry of the stream could not be stored yet');
      await parts.pause();
      await untilReady(redis, signal);
    }
  }
}
