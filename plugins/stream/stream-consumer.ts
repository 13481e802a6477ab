import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import { openReadingRedis, untilReady } from '../../src/platform/queue/reading-redis.js';
import type { CaptureOperation } from '../capture/capture-operation.js';
import type { EndingFound } from '../operation/ending.js';
import { storeEntry } from './store-entry.js';
import { isGroupMissing, streamGroup } from './stream-group.js';
import { watchRedisClock } from './watch-redis-clock.js';

/** The consumer group of all plugins that read one stream. */
export const STREAM_GROUP = 'vcon-archivist';
export const DEFAULT_STREAM = 'vcon-evidence';

interface StreamConsumerParts {
  /** The conserver's Redis. */
  readonly url: string;
  readonly stream: string;
  /** Unique for each process. */
  readonly consumer: string;
  readonly capture: CaptureOperation;
  /** The clock of this process: captures by the receiver have its time. */
  readonly clock: Clock;
  /** Whether something contradicts it: then nothing is told by it of the Redis's clock. */
  clockIsWrong(): boolean;
  /** Stores the end of a vCon. Resolves when it is on disk. */
  ended(found: EndingFound): Promise<void>;
  /** Tells how far the clock of this Redis is ahead of this process's: each second, undefined when it does not say. */
  aheadMs?(ms: number | undefined): void;
  /** Counts invalid entries. */
  refused(): void;
  readonly logger: Logger;
  /** An entry that a consumer has taken but not acknowledged counts as abandoned after this time. */
  readonly abandonedAfterMs?: number;
}

export interface StreamConsumer {
  /** Finishes the current entry, then stops. */
  close(): Promise<void>;
}

const ABANDONED_AFTER_MS = 30_000;
/** Pause before the queue, or Redis, is tried again. */
const PAUSE_MS = 500;

/** Where invalid entries go: they may be evidence, and an operator inspects them. */
export function refusedStream(stream: string): string {
  return `${stream}:refused`;
}

/**
 * Takes the wheel's entries in order. Acknowledges an entry, and deletes it from the stream, only when its job is
 * durable. Claims entries that a dead consumer has left. While the queue stores nothing, entries wait in the stream.
 */
export async function startStreamConsumer(parts: StreamConsumerParts): Promise<StreamConsumer> {
  const { stream, consumer, logger, abandonedAfterMs = ABANDONED_AFTER_MS } = parts;
  const redis = openReadingRedis(parts.url);
  redis.on('error', (error) => logger.warn({ err: error }, 'the Redis of CONSERVER_REDIS_URL does not answer'));
  const stop = new AbortController();
  const { signal } = stop;
  const pause = (): Promise<void> => wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  const group = streamGroup(redis, { stream, group: STREAM_GROUP, consumer, abandonedAfterMs });
  const aside = { refusedInto: refusedStream(stream), invalid: new Set<string>() };
  const storing = { ...parts, ...aside, redis, group, pause, signal };
  const lookAtClock = watchRedisClock(redis, parts);

  async function round(): Promise<void> {
    // Abandoned entries are older than new ones.
    const entries = [...(await group.claim()), ...(await group.take())];
    const shown = await lookAtClock();
    for (const [id, fields] of entries) if (fields && !signal.aborted) await storeEntry(storing, id, fields, shown);
  }

  /** Not before it is missing: a Redis that is full refuses this command, and still gives out what waits in the stream. */
  async function createMissingGroup(hasRead: boolean): Promise<void> {
    if (hasRead) logger.error({ stream }, 'the stream of operations is gone, with the entries that waited in it');
    await group.create();
  }

  async function run(): Promise<void> {
    let hasRead = false;
    for (await untilReady(redis, signal); !signal.aborted; await untilReady(redis, signal)) {
      try {
        await round();
        hasRead = true;
      } catch (error) {
        if (signal.aborted) return;
        const left = isGroupMissing(error)
          ? await createMissingGroup(hasRead).catch((failed: unknown) => failed)
          : error;
        if (left === undefined) continue;
        logger.warn({ err: left }, 'the stream of operations cannot be read');
        await pause();
      }
    }
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      // A blocking read ends by itself.
      await running;
      if (redis.status === 'ready') await group.leave().catch(() => undefined);
      redis.disconnect();
    },
  };
}
