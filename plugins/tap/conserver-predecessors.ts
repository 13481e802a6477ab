import type { Redis } from 'ioredis';
import { skimJson } from '../operation/skim-json.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The members that name another vCon, also under the name of earlier drafts. */
const MEMBERS = ['redacted', 'amended', 'appended'];
const PATHS = MEMBERS.map((name) => `$.${name}.uuid`);
/** A longer member is no reference. */
const MOST_BYTES = 64 * 1024;

function uuidIn(member: Buffer | undefined): unknown {
  if (member === undefined || member.length > MOST_BYTES) return undefined;
  try {
    return (JSON.parse(member.toString()) as { uuid?: unknown } | null)?.uuid;
  } catch {
    return undefined;
  }
}

/** What a vCon names that is stored as a text, as conservers do since September 2026. */
async function namedInText(text: Buffer): Promise<unknown[]> {
  const skimmed = await skimJson(text);
  return MEMBERS.map((name) => uuidIn(skimmed?.members.get(name)));
}

/** What a vCon names that RedisJSON stores, as conservers did before. */
async function namedInRedisJson(redis: Pick<Redis, 'call'>, key: string): Promise<unknown[]> {
  const reply = (await redis.call('JSON.GET', key, ...PATHS)) as string | null;
  return reply === null ? [] : Object.values(JSON.parse(reply) as Record<string, unknown[]>).flat();
}

/**
 * Resolves with the uuids of the vCons that a stored one redacts or amends, in lower case; empty when it is not stored.
 * Reads the conserver's Redis directly: the conserver's API and its own class would restore an expired vCon.
 * @throws when that Redis does not answer
 */
export async function conserverPredecessors(redis: Pick<Redis, 'call' | 'getBuffer'>, uuid: string): Promise<string[]> {
  const key = `vcon:${uuid}`;
  const text = await redis.getBuffer(key).catch((error: unknown) => {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined;
    throw error;
  });
  const found = text === undefined ? await namedInRedisJson(redis, key) : await namedInText(text ?? Buffer.of());
  const uuids = found.filter((each): each is string => typeof each === 'string' && UUID.test(each));
  return [...new Set(uuids.map((each) => each.toLowerCase()))].filter((each) => each !== uuid.toLowerCase());
}
