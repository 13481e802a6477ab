import type { Redis } from 'ioredis';

/** Why the wheel should check whether a vCon has ended. */
export type ReasonToLook = 'deleted' | 'expired';

/** The state of the wheel in the conserver, which checks storages. */
export interface Looker {
  /** Undefined if no wheel has ever run. */
  readonly beatMs: number | undefined;
  readonly nowMs: number;
  readonly version: string;
  /** Names of the configured storages, and of those that the configuration excludes. */
  readonly storages: readonly string[];
  readonly notAsked: readonly string[];
  /** Checks that were given up without a final answer. */
  readonly unanswered: number;
  /** The time of the last of them, in Unix milliseconds; undefined if there is none, or if an older wheel gave it up. */
  readonly unansweredMs: number | undefined;
  /** Checks that wait until they are due, or for a wheel. */
  readonly waiting: number;
}

/** A conserver deletes from its Redis first, then from its storages one by one. */
const GRACE_MS = 10_000;
/** Most checks that wait while no wheel runs. */
const MOST_WAITING = 100_000;
/** The wheel sends a heartbeat every 30 seconds, but a slow storage can delay it this long. */
const SILENT_AFTER_MS = 300_000;

/** Where requested checks wait; `plugins/python/vcon_archivist_link/endings.py` reads them. */
function keysOf(stream: string): { readonly look: string; readonly tries: string; readonly looker: string } {
  return { look: `${stream}:look`, tries: `${stream}:look:tries`, looker: `${stream}:looker` };
}

/** The clock of this Redis, in Unix milliseconds. */
async function redisTimeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

/**
 * Stores a requested check in the conserver's Redis until the wheel has done it; false when too many are waiting. Equal
 * requests of two plugins count once.
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
    unansweredMs: told['unanswered_ms'] === undefined ? undefined : Number(told['unanswered_ms']),
    waiting,
  };
}

/** Whether a wheel is running. */
export function isLooking({ beatMs, nowMs }: Looker): boolean {
  return beatMs !== undefined && nowMs - beatMs < SILENT_AFTER_MS;
}
