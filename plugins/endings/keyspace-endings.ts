import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';

/** How a vCon ends in a conserver's Redis. */
export type Ending = 'vcon_expired' | 'vcon_deleted';

/** Redis' names of what ends a key. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  expired: 'vcon_expired',
  del: 'vcon_deleted',
  'json.del': 'vcon_deleted',
};
const CHANNEL = /^__keyevent@\d+__:(.+)$/;
const KEY = /^vcon:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const ATTEMPTS = 20;
const PAUSE_MS = 1_000;

/** Whether a Redis with this setting notifies of everything that ends a key. */
export function notifiesOfEndings(setting: string): boolean {
  return setting.includes('E') && (setting.includes('A') || (setting.includes('x') && setting.includes('g')));
}

/**
 * Listens for vCons that expire or are deleted. Best effort: Redis tells whoever listens at that moment, once, and only if
 * it is set to; what ends while nobody listens is not known.
 * @param ended keeps the ending; is tried again for a while when it throws
 */
export function startKeyspaceEndings(parts: {
  /** The conserver's Redis. */
  readonly url: string;
  readonly logger: Logger;
  ended(ending: Ending, uuid: string): Promise<void>;
}): { close(): Promise<void> } {
  const { logger } = parts;
  const redis = new Redis(parts.url, { maxRetriesPerRequest: null });
  redis.on('error', (error) => logger.warn({ err: error }, 'the conserver’s Redis does not answer'));
  const stop = new AbortController();
  const under = new Set<Promise<void>>();

  async function keep(ending: Ending, uuid: string): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS && !stop.signal.aborted; attempt += 1) {
      try {
        return await parts.ended(ending, uuid);
      } catch (error) {
        logger.warn({ err: error, ending }, 'the end of a vCon could not be kept yet');
        await wait(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  }

  redis.on('message', (channel: string, key: string) => {
    const ending = ENDINGS[CHANNEL.exec(channel)?.[1] ?? ''];
    const uuid = KEY.exec(key)?.[1]?.toLowerCase();
    if (!ending || !uuid) return;
    const kept = keep(ending, uuid).finally(() => under.delete(kept));
    under.add(kept);
  });
  const channels = Object.keys(ENDINGS).map((event) => `__keyevent@${redis.options.db ?? 0}__:${event}`);
  // Subscribed to anew by the client whenever it has to connect again.
  redis
    .subscribe(...channels)
    .catch((error: unknown) => logger.warn({ err: error }, 'the ends of vCons cannot be listened for'));
  return {
    async close() {
      stop.abort();
      redis.disconnect();
      await Promise.all(under);
    },
  };
}
