import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';
import { openReadingRedis, untilReady } from '../../src/platform/queue/reading-redis.js';
import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';
import { conserverPredecessors } from './conserver-predecessors.js';
import { noteDeparture } from './note-departure.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BLOCK_SECONDS = 1;
const PAUSE_MS = 500;
/** So often a tap looks for entries that were moved and not noted: the plugin that moved them has died. */
const LOOK_EVERY_MS = 30_000;

/** The list that holds an entry while it is being noted. */
export function processingList(list: string): string {
  return `${list}:processing`;
}

/** Resolves with the entry that was moved; null if none came, undefined if that Redis is full. */
function moveNext(redis: Redis, list: string): Promise<string | null | undefined> {
  return redis.blmove(list, processingList(list), 'LEFT', 'RIGHT', BLOCK_SECONDS).catch((error: unknown) => {
    if (error instanceof Error && error.message.startsWith('OOM')) return undefined;
    throw error;
  });
}

interface EgressTapParts {
  /** The conserver's Redis. */
  readonly url: string;
  readonly list: string;
  readonly memory: Memory;
  readonly logger: Logger;
  observe(): Observation;
  /** The vCons that one redacts or amends; by default read from the conserver's Redis. */
  predecessorsOf?(uuid: string): Promise<readonly string[]>;
  readonly lookEveryMs?: number;
}

/**
 * Notes each vCon that leaves a chain through our own egress list. An entry is moved to a processing list, noted, and
 * only then removed. What a crash left there is noted by the next start, or by another plugin within 30 seconds, so an
 * entry is noted at least once.
 */
export function startEgressTap(parts: EgressTapParts): { close(): Promise<void> } {
  const { list, memory, logger, lookEveryMs = LOOK_EVERY_MS } = parts;
  const processing = processingList(list);
  const redis = openReadingRedis(parts.url);
  redis.on('error', (error) => logger.warn({ err: error }, 'the Redis of CONSERVER_REDIS_URL does not answer'));
  const stop = new AbortController();
  const { signal } = stop;
  const { predecessorsOf = (uuid) => conserverPredecessors(redis, uuid) } = parts;
  const noting = { memory, logger, predecessorsOf };

  async function note(entry: string, from: string): Promise<void> {
    if (UUID.test(entry)) await noteDeparture(noting, entry, parts.observe());
    else logger.warn({ list }, 'an entry of the tap list is not a UUID: it is dropped');
    await redis.lrem(from, 1, entry);
  }

  /** A Redis that is full refuses to move an entry, but not to remove it: the head is noted where it stands. */
  async function noteHead(): Promise<void> {
    const head = await redis.lindex(list, 0);
    if (head !== null) await note(head, list);
    else await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }

  async function noteNext(): Promise<void> {
    const entry = await moveNext(redis, list);
    if (entry === undefined) await noteHead();
    else if (entry !== null) await note(entry, processing);
  }

  async function run(): Promise<void> {
    let lookedMs = Number.NEGATIVE_INFINITY;
    for (await untilReady(redis, signal); !signal.aborted; await untilReady(redis, signal)) {
      try {
        if (performance.now() - lookedMs >= lookEveryMs) {
          for (const entry of await redis.lrange(processing, 0, -1)) await note(entry, processing);
          lookedMs = performance.now();
        }
        await noteNext();
      } catch (error) {
        if (signal.aborted) return;
        // Its own entry may be there now.
        lookedMs = Number.NEGATIVE_INFINITY;
        logger.warn({ err: error, list }, 'the tap list cannot be read');
        await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      await running;
      redis.disconnect();
    },
  };
}
