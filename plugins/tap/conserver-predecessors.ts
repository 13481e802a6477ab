import type { Redis } from 'ioredis';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PATHS = ['$.redacted.uuid', '$.amended.uuid', '$.appended.uuid'];

/**
 * Resolves with the uuids of the vCons that a stored one redacts or amends, in lower case; empty when it is not stored.
 * Reads the conserver's Redis directly: the conserver's API and its own class would restore an expired vCon.
 * @throws when that Redis does not answer
 */
export async function conserverPredecessors(redis: Pick<Redis, 'call'>, uuid: string): Promise<string[]> {
  const reply = (await redis.call('JSON.GET', `vcon:${uuid}`, ...PATHS)) as string | null;
  if (reply === null) return [];
  const found = Object.values(JSON.parse(reply) as Record<string, unknown[]>).flat();
  const uuids = found.filter((each): each is string => typeof each === 'string' && UUID.test(each));
  return [...new Set(uuids.map((each) => each.toLowerCase()))].filter((each) => each !== uuid.toLowerCase());
}
