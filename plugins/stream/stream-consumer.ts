import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import { openReadingRedis, untilReady } from '../../src/platform/queue/reading-redis.js';
import type { CaptureOperation } from '../capture/capture-operation.js';
import type { EndingFound } from '../operation/ending.js';
import { OperationError } from '../operation/operation.js';
import { leastAhead, type RedisClock, readRedisClock } from './redis-clock.js';
import { RecordError, readEndingEntry, readStreamEntry } from './stream-record.js';

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

type Entry = readonly [id: string, fields: readonly string[] | null];
type Reading = readonly (readonly [stream: string, entries: Entry[]])[] | null;

const TAKEN = 64;
const BLOCK_MS = 1_000;
const ABANDONED_AFTER_MS = 30_000;
/** Pause before the queue, or Redis, is tried again. */
const PAUSE_MS = 500;

/** Redis was flushed, or has evicted the stream, or nobody has made the group yet. */
function isGroupMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOGROUP');
}

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
  const least = leastAhead();
  const stop = new AbortController();
  const { signal } = stop;

  const pause = (): Promise<void> => wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);

  async function makeGroup(): Promise<void> {
    await redis.xgroup('CREATE', stream, STREAM_GROUP, '0', 'MKSTREAM').catch((error: Error) => {
      if (!error.message.startsWith('BUSYGROUP')) throw error;
    });
  }

  async function done(id: string): Promise<void> {
    await redis.multi().xack(stream, STREAM_GROUP, id).xdel(stream, id).exec();
  }

  async function refuse(id: string, fields: readonly string[], reason: string): Promise<void> {
    // Alone: in one transaction, the entry would be taken out of the stream also where it could not be put aside.
    await redis.xadd(refusedStream(stream), '*', 'entry', id, 'reason', reason, ...fields);
    parts.refused();
    logger.error({ id, reason }, 'an entry of the stream is not a valid record');
    await done(id);
  }

  /** Whether an older entry is with a consumer: this one comes later in the batch, so it is another's, or a dead one's. */
  async function followsOthers(id: string): Promise<boolean> {
    const [older] = await redis.xpending(stream, STREAM_GROUP, '-', `(${id}`, 1);
    return older !== undefined;
  }

  /** Retries until the entry is stored: those behind it wait in the stream, as for a full queue. */
  async function handle(id: string, fields: readonly string[], shown: RedisClock | undefined): Promise<void> {
    while (!signal.aborted) {
      try {
        const ending = readEndingEntry(id, fields, shown);
        // An older entry may be the vCon's last state: the end is taken again with what dead consumers leave.
        if (ending && (await followsOthers(id))) return;
        if (ending) await parts.ended(ending);
        else await parts.capture(readStreamEntry(id, fields, shown));
        return await done(id);
      } catch (error) {
        if (error instanceof RecordError || error instanceof OperationError) return refuse(id, fields, error.message);
        logger.warn({ err: error, id }, 'an entry of the stream could not be stored yet');
        await pause();
        await untilReady(redis, signal);
      }
    }
  }

  async function claim(): Promise<readonly Entry[]> {
    const [, entries] = (await redis.xautoclaim(
      ...([stream, STREAM_GROUP, consumer, abandonedAfterMs, '0', 'COUNT', TAKEN] as const),
    )) as [string, Entry[]];
    return entries;
  }

  async function take(): Promise<readonly Entry[]> {
    const reading = (await redis.xreadgroup(
      ...(['GROUP', STREAM_GROUP, consumer, 'COUNT', TAKEN, 'BLOCK', BLOCK_MS, 'STREAMS', stream, '>'] as const),
    )) as Reading;
    return reading?.[0]?.[1] ?? [];
  }

  async function round(): Promise<void> {
    // Abandoned entries are older than new ones.
    const entries = [...(await claim()), ...(await take())];
    // A Redis may refuse this command: then the times of its entries are not checked, but they are still captured.
    const read = await readRedisClock(redis, parts.clock).catch(() => undefined);
    const aheadMs = read && least(read);
    parts.aheadMs?.(aheadMs);
    const shown = read && { ...read, aheadMs: aheadMs!, differs: read.differs && !parts.clockIsWrong() };
    for (const [id, fields] of entries) if (fields && !signal.aborted) await handle(id, fields, shown);
  }

  /** Not before it is missing: a Redis that is full refuses this command, and still gives out what waits in the stream. */
  async function makeMissingGroup(hasRead: boolean): Promise<void> {
    if (hasRead) logger.error({ stream }, 'the stream of operations is gone, with the entries that waited in it');
    await makeGroup();
  }

  async function run(): Promise<void> {
    let hasRead = false;
    for (await untilReady(redis, signal); !signal.aborted; await untilReady(redis, signal)) {
      try {
        await round();
        hasRead = true;
      } catch (error) {
        if (signal.aborted) return;
        const left = isGroupMissing(error) ? await makeMissingGroup(hasRead).catch((failed: unknown) => failed) : error;
        if (left === undefined) continue;
        logger.warn({ err: left }, 'the stream of operations cannot be read');
        await pause();
      }
    }
  }

  async function leave(): Promise<void> {
    const [pending] = (await redis.xpending(stream, STREAM_GROUP, '-', '+', 1, consumer)) as unknown[];
    if (pending === undefined) await redis.xgroup('DELCONSUMER', stream, STREAM_GROUP, consumer);
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      // A blocking read ends by itself.
      await running;
      if (redis.status === 'ready') await leave().catch(() => undefined);
      redis.disconnect();
    },
  };
}
