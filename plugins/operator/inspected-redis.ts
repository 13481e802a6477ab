import { Redis } from 'ioredis';
import { failureReason } from '../../src/platform/explain-failure.js';

/** What a Redis tells about itself; what it does not tell is undefined. */
export interface InspectedRedis {
  readonly version: string;
  /** Another one for each start of a server: equal ones are one server. */
  readonly runId: string;
  readonly appendOnly: boolean;
  readonly appendFsync: string | undefined;
  /** The last write to the append-only file went well. */
  readonly appendWrites: boolean;
  readonly evictionPolicy: string | undefined;
  /** 0 when there is no limit. */
  readonly maxMemory: number;
  /** Which events of keys it notifies of, in letters. */
  readonly notifications: string | undefined;
  /** Those of the asked commands that it does not know. */
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
    maxMemory: Number(field(info, 'maxmemory') ?? 0),
    notifications: notifications[1],
    unknownCommands: commands.filter((_command, index) => known[index] === null || known[index] === undefined),
  };
}

/**
 * Asks a Redis about itself, and changes nothing in it.
 * @param commands names of commands that it should know, at least one
 * @throws {Error} with the reason in one line when it does not answer
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
