import type { Redis } from 'ioredis';
import { type Clock, systemClock } from '../clock.js';
import type { Logger } from '../logger.js';

/** Less than the time in which a command must be answered, so that this wait ends first. */
const SYNC_WAIT_MS = 1_000;
/** Settings can be changed while Redis runs: what was seen counts for so long, and a refusal is never based on it. */
const SEEN_FOR_MS = 2_000;

/** How a Redis keeps what it has answered for. */
export type RedisDurability =
  /** appendfsync always: on disk with the answer. */
  | 'synced with each command'
  /** WAITAOF (Redis 7.2) tells when everything before it is on disk. */
  | 'synced on request'
  /** Once a second: killing Redis loses nothing, a power cut up to a second. */
  | 'synced each second'
  /** No append-only file: a restart loses everything. */
  | 'not kept';

/** What decides it; a setting that the server does not tell is undefined. */
export interface RedisSettings {
  readonly appendOnly: boolean;
  /** The file is being written anew. When it was just turned on, nothing counts as kept until that has ended. */
  readonly rewriting?: boolean;
  readonly appendFsync: string | undefined;
  readonly knowsWaitAof: boolean;
}

/** @param before what was known earlier, if anything was */
export function durabilityOf(settings: RedisSettings, before?: RedisDurability): RedisDurability {
  if (!settings.appendOnly || (before === 'not kept' && settings.rewriting)) return 'not kept';
  if (settings.appendFsync === 'always') return 'synced with each command';
  return settings.knowsWaitAof ? 'synced on request' : 'synced each second';
}

/** Managed servers often have no CONFIG; INFO tells the most important part. */
async function setting(redis: Redis, name: string): Promise<string | undefined> {
  try {
    return ((await redis.config('GET', name)) as string[])[1];
  } catch {
    return undefined;
  }
}

async function readSettings(redis: Redis): Promise<RedisSettings> {
  const [appendFsync, persistence, command] = await Promise.all([
    setting(redis, 'appendfsync'),
    redis.info('persistence'),
    redis.call('COMMAND', 'INFO', 'WAITAOF') as Promise<unknown[]>,
  ]);
  return {
    appendOnly: /^aof_enabled:1/m.test(persistence),
    rewriting: /^aof_rewrite_(in_progress|scheduled):1/m.test(persistence),
    appendFsync,
    knowsWaitAof: command[0] !== null && command[0] !== undefined,
  };
}

async function warnOf(redis: Redis, durability: RedisDurability, logger: Logger): Promise<void> {
  if (durability === 'not kept')
    logger.warn('Redis keeps no append-only file: captured operations are refused. Set appendonly yes.');
  if (durability === 'synced each second')
    logger.warn(
      'Redis syncs its append-only file once a second: a power cut may lose the operations captured within that second. Set appendfsync always, or use Redis 7.2.',
    );
  const eviction = await setting(redis, 'maxmemory-policy');
  if (eviction !== undefined && eviction !== 'noeviction')
    logger.warn(`Redis: maxmemory-policy is ${eviction}, so jobs may be dropped. Set noeviction.`);
}

/**
 * Finds out how a Redis keeps writes, says at each change what to correct, and returns the check that a writer on this
 * connection awaits. Settings are read again every few seconds, before each refusal, and when Redis comes back.
 */
export async function redisDurability(
  redis: Redis,
  logger: Logger,
  clock: Clock = systemClock,
): Promise<() => Promise<void>> {
  let known: { readonly durability: RedisDurability; readonly atMs: number } | undefined;
  let inspecting: Promise<RedisDurability> | undefined;

  async function inspect(): Promise<RedisDurability> {
    const atMs = clock.now();
    const before = known?.durability;
    const durability = durabilityOf(await readSettings(redis), before);
    known = { durability, atMs };
    if (durability !== before) await warnOf(redis, durability, logger);
    return durability;
  }
  const inspectOnce = (): Promise<RedisDurability> => {
    inspecting ??= inspect().finally(() => {
      inspecting = undefined;
    });
    return inspecting;
  };

  async function current(): Promise<RedisDurability> {
    const fresh = known !== undefined && Math.abs(clock.now() - known.atMs) < SEEN_FOR_MS;
    return fresh && known!.durability !== 'not kept' ? known!.durability : inspectOnce();
  }

  await inspectOnce();
  redis.on('ready', () => {
    // It may be another server, or one that was started with other settings.
    known = undefined;
    inspectOnce().catch((error: unknown) => logger.warn({ err: error }, 'Redis does not tell its settings'));
  });
  return async () => {
    const durability = await current();
    if (durability === 'not kept') throw new Error('Redis keeps no append-only file');
    if (durability !== 'synced on request') return;
    const [local] = (await redis.call('WAITAOF', 1, 0, SYNC_WAIT_MS)) as [number, number];
    if (local < 1) throw new Error('Redis did not sync its append-only file in time');
  };
}
