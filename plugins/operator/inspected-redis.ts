import { Redis } from 'ioredis';
import { failureReason } from '../../src/platform/explain-failure.js';

/** What a Redis reveals about itself; undefined if it does not. */
export interface InspectedRedis {
  readonly version: string;
  /** Differs for each start of a server: equal ids mean the same server. Empty if it is not revealed. */
  readonly runId: string;
  readonly appendOnly: boolean;
  readonly appendFsync: string | undefined;
  /** Whether the last write to the append-only file succeeded. */
  readonly appendWrites: boolean;
  readonly evictionPolicy: string | undefined;
  readonly usedMemory: number;
  /** 0 without a limit. */
  readonly maxMemory: number;
  /** The kinds of key events that it notifies of, as letters. */
  readonly notifications: string | undefined;
  /** The commands, among those requested, that it does not support. */
  readonly unknownCommands: readonly string[];
}

const TIMEOUT_MS = 5_000;

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}

async function read(redis: Redis, commands: readonly string[]): Promise<InspectedRedis> {
  const info = await redis.info();
  // Managed servers often have no CONFIG.
  const fsync = (await redis.config('GET', 'appendfsync').catch(() => [])) as string[];
  const notifications = (await redis.config('GET', 'notify-keyspace-events').catch(() => [])) as string[];
  const known = (await redis.call('COMMAND', 'INFO', ...commands)) as unknown[];
  return {
    version: field(info, 'redis_version') ?? '',
    runId: field(info, 'run_id') ?? '',
    appendOnly: field(info, 'aof_enabled') === '1',
    appendFsync: fsync[1],
    appendWrites: (field(info, 'aof_last_write_status') ?? 'ok') === 'ok',
    evictionPolicy: field(info, 'maxmemory_policy'),
    usedMemory: Number(field(info, 'used_memory') ?? 0),
    maxMemory: Number(field(info, 'maxmemory') ?? 0),
    notifications: notifications[1],
    unknownCommands: commands.filter((_command, index) => known[index] === null || known[index] === undefined),
  };
}

/**
 * Inspects a Redis without changing it.
 * @param commands names of commands that it should support, at least one
 * @throws {Error} with a one-line reason when it does not answer
 */
export async function inspectRedis(url: string, commands: readonly string[]): Promise<InspectedRedis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    return await read(redis, commands);
  } catch (error) {
    throw new Error(failureReason(reason ?? error), { cause: error });
  } finally {
    redis.disconnect();
  }
}
