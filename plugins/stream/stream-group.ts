import type { Redis } from 'ioredis';

/** An entry that the group has given out; without fields if it has been deleted from the stream since. */
type StreamEntry = readonly [id: string, fields: readonly string[] | null];
type Reading = readonly (readonly [stream: string, entries: StreamEntry[]])[] | null;

const TAKEN = 64;
const BLOCK_MS = 1_000;
/** A script: a Redis that is full refuses every transaction, also one that only removes. */
const FINISH = "redis.call('xack', KEYS[1], ARGV[1], ARGV[2]) return redis.call('xdel', KEYS[1], ARGV[2])";

/**
 * All of it, or nothing where Redis refuses to add. An entry that is gone was set aside before, and the answer was lost.
 */
const SET_ASIDE = `if #redis.call('xrange', KEYS[1], ARGV[2], ARGV[2]) == 0 then return 0 end
redis.call('xadd', KEYS[2], '*', unpack(ARGV, 3))
redis.call('xack', KEYS[1], ARGV[1], ARGV[2])
return redis.call('xdel', KEYS[1], ARGV[2])`;
/** Lua's stack has room for about 8,000 values. */
const MOST_IN_SCRIPT = 5_000;

/** One consumer's part in a consumer group of a Redis stream. Everything throws when Redis does not answer. */
export interface StreamGroup {
  /** Creates the group, and the stream; one that exists stays. */
  create(): Promise<void>;
  /** Entries that another consumer took and left unacknowledged for too long. */
  claim(): Promise<readonly StreamEntry[]>;
  /** New entries; waits a second for them. */
  take(): Promise<readonly StreamEntry[]>;
  /** Whether an entry before this one is with a consumer, other than these. */
  hasPendingBefore(id: string, others: ReadonlySet<string>): Promise<boolean>;
  /** Acknowledges an entry and deletes it from the stream, also from one in a Redis that is full. */
  finish(id: string): Promise<void>;
  /** Moves an entry to another stream, with these fields. Resolves with whether it was still there. */
  setAside(id: string, into: string, fields: readonly string[]): Promise<boolean>;
  /** Removes the consumer from the group, unless it has entries left. */
  leave(): Promise<void>;
}

/** Redis was flushed, or has evicted the stream, or nobody has made the group yet. */
export function isGroupMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOGROUP');
}

/** @param abandonedAfterMs when an unacknowledged entry is left */
export function streamGroup(
  redis: Redis,
  of: { readonly stream: string; readonly group: string; readonly consumer: string; readonly abandonedAfterMs: number },
): StreamGroup {
  const { stream, group, consumer, abandonedAfterMs } = of;
  /** Where the search for abandoned entries goes on: those that stay abandoned must not hide others. */
  let claimFrom = '0-0';
  return {
    async create() {
      await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM').catch((error: Error) => {
        if (!error.message.startsWith('BUSYGROUP')) throw error;
      });
    },
    async claim() {
      const [next, entries] = (await redis.xautoclaim(
        ...([stream, group, consumer, abandonedAfterMs, claimFrom, 'COUNT', TAKEN] as const),
      )) as [string, StreamEntry[]];
      claimFrom = next;
      return entries;
    },
    async take() {
      const reading = (await redis.xreadgroup(
        ...(['GROUP', group, consumer, 'COUNT', TAKEN, 'BLOCK', BLOCK_MS, 'STREAMS', stream, '>'] as const),
      )) as Reading;
      return reading?.[0]?.[1] ?? [];
    },
    async hasPendingBefore(id, others) {
      const older = (await redis.xpending(stream, group, '-', `(${id}`, others.size + 1)) as [string][];
      return older.some(([pending]) => !others.has(pending));
    },
    async finish(id) {
      await redis.eval(FINISH, 1, stream, group, id);
    },
    async setAside(id, into, fields) {
      if (fields.length > MOST_IN_SCRIPT) {
        await redis.xadd(into, '*', ...fields);
        await redis.eval(FINISH, 1, stream, group, id);
        return true;
      }
      return (await redis.eval(SET_ASIDE, 2, stream, into, group, id, ...fields)) === 1;
    },
    async leave() {
      const [pending] = (await redis.xpending(stream, group, '-', '+', 1, consumer)) as unknown[];
      if (pending === undefined) await redis.xgroup('DELCONSUMER', stream, group, consumer);
    },
  };
}
