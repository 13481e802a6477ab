import type { Redis } from 'ioredis';

/** Why the wheel should look whether a vCon has ended. */
export type ReasonToLook = 'deleted' | 'expired';

/** What is known of the wheel's part in the conserver, which looks. */
export interface Looker {
  /** Undefined when none has ever looked. */
  readonly beatMs: number | undefined;
  readonly nowMs: number;
  readonly version: string;
  /** Names of the configured storages, and of those that the configuration leaves out. */
  readonly storages: readonly string[];
  readonly notAsked: readonly string[];
  /** Looks without a final answer, which were given up. */
  readonly unanswered: number;
  /** Reasons that wait for their time, or for a wheel. */
  readonly waiting: number;
}

/** A conserver deletes from its storages after its Redis, one after the other. */
const GRACE_MS = 10_000;
/** So many wait at most when no wheel looks. */
const MOST_WAITING = 100_000;
/** The wheel says every 30 seconds that it looks, and a storage may keep it from that for as long. */
const SILENT_AFTER_MS = 300_000;

/** Where reasons to look wait, as `plugins/python/vcon_archivist_link/endings.py` takes them. */
function keysOf(stream: string): { readonly look: string; readonly tries: string; readonly looker: string } {
  return { look: `${stream}:look`, tries: `${stream}:look:tries`, looker: `${stream}:looker` };
}

/** The clock of this Redis, in Unix milliseconds. */
async function redisTimeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

/**
 * Keeps a reason to look in the conserver's Redis, until the wheel has looked; false when too many wait already. The same
 * reason of two plugins is one.
 * @throws when that Redis does not answer
 */
export async function askToLook(redis: Redis, stream: string, reason: ReasonToLook, uuid: string): Promise<boolean> {
  const { look, tries } = keysOf(stream);
  if ((await redis.zcard(look)) >= MOST_WAITING) return false;
  const member = `${reason}:${uuid}`;
  const dueMs = (await redisTimeMs(redis)) + GRACE_MS;
  const added = await redis.multi().hdel(tries, member).zadd(look, 'LT', dueMs, member).exec();
  for (const [error] of added ?? []) if (error) throw error;
  return true;
}

function names(text: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

/** @throws when that Redis does not answer */
export async function readLooker(redis: Redis, stream: string): Promise<Looker> {
  const { look, looker } = keysOf(stream);
  const [told, waiting, nowMs] = await Promise.all([redis.hgetall(looker), redis.zcard(look), redisTimeMs(redis)]);
  return {
    beatMs: told['beat'] === undefined ? undefined : Number(told['beat']),
    nowMs,
    version: told['version'] ?? '',
    storages: names(told['storages']),
    notAsked: names(told['not_asked']),
    unanswered: Number(told['unanswered'] ?? 0),
    waiting,
  };
}

/** Whether a wheel looks at the moment. */
export function isLooking({ beatMs, nowMs }: Looker): boolean {
  return beatMs !== undefined && nowMs - beatMs < SILENT_AFTER_MS;
}
