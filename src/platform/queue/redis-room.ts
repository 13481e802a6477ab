import type { Redis } from 'ioredis';

/** Redis stopped writing because its last save or append failed: usually a full disk. It refuses even PING. */
const CANNOT_SAVE = /^MISCONF /;

function figure(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
}

/** Returns whether a Redis refuses writes because its disk or its memory is full. @throws if it does not answer */
export async function redisIsFull(redis: Redis): Promise<boolean> {
  try {
    await redis.ping();
  } catch (error) {
    if (error instanceof Error && CANNOT_SAVE.test(error.message)) return true;
    throw error;
  }
  const memory = await redis.info('memory');
  const most = figure(memory, 'maxmemory');
  // With any other policy, Redis drops keys and accepts the write; that is reported at the start.
  return most > 0 && /^maxmemory_policy:noeviction/m.test(memory) && figure(memory, 'used_memory') >= most;
}
