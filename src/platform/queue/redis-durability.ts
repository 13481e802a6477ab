import type { Redis } from 'ioredis';
import { type Clock, systemClock } from '../clock.js';
import type { Logger } from '../logger.js';

/** Less than the command timeout, so that this wait ends first. */
const SYNC_WAIT_MS = 1_000;
/** Settings can change while Redis runs: they are cached this long, and a refusal is never based on the cache. */
const SEEN_FOR_MS = 2_000;

/** How a Redis persists the commands that it has confirmed. */
type RedisDurability =
  /** appendfsync always: on disk before the reply. */
  | 'synced with each command'
  /** WAITAOF (Redis 7.2) reports when everything before it is on disk. */
  | 'synced on request'
  /** Once a second: killing Redis loses nothing, a power failure up to a second. */
  | 'synced each second'
  /** No append-only file: a restart loses everything. */
  | 'not kept';

/** The settings that decide it; undefined if the server does not report one. */
interface RedisSettings {
  readonly appendOnly: boolean;
  /** The file is being rewritten. If it was only just turned on, nothing is durable until that has ended. */
  readonly rewriting?: boolean;
  readonly appendFsync: string | undefined;
  readonly knowsWaitAof: boolean;
}

/** @param before the earlier result, if any */
export function durabilityOf(settings: RedisSettings, before?: RedisDurability): RedisDurability {
  if (!settings.appendOnly || (before === 'not kept' && settings.rewriting)) return 'not kept';
  if (settings.appendFsync === 'always') return 'synced with each command';
  return settings.knowsWaitAof ? 'synced on request' : 'synced each second';
}

/** Managed servers often have no CONFIG; INFO reports the most important part. */
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
 * Detects how a Redis persists writes, logs at each change what to correct, and returns the check that a writer on this
 * connection awaits. Settings are read again every few seconds, before each refusal, and when Redis reconnects.
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
    // It may be another server, or one that was restarted with other settings.
    known = undefined;
    inspectOnce().catch((error: unknown) => logger.warn({ err: error }, 'Redis does not report its settings'));
  });
  return async () => {
    const durability = await current();
    if (durability === 'not kept') throw new Error('Redis keeps no append-only file');
    if (durability !== 'synced on request') return;
    const [local] = (await redis.call('WAITAOF', 1, 0, SYNC_WAIT_MS)) as [number, number];
    if (local < 1) throw new Error('Redis did not sync its append-only file in time');
  };
}
