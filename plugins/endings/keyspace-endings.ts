import { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';
import { REDIS_OPTIONS } from '../../src/platform/queue/redis-options.js';
import type { ReasonToLook } from './look-list.js';
import { createLookRequests } from './request-look.js';

/** Redis' names of events that end a key; RedisJSON also sends its own when only a path was deleted. */
const REASONS: Readonly<Record<string, ReasonToLook>> = { expired: 'expired', del: 'deleted', 'json.del': 'deleted' };
/** The classes of these notifications: key events, expired, generic, modules. */
export const NOTIFICATIONS = 'Exgd';
const CHANNEL = /^__keyevent@\d+__:(.+)$/;
const KEY = /^vcon:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** True if a Redis with this setting sends notifications of everything that ends a key. */
export function notifiesOfEndings(setting: string): boolean {
  if (!setting.includes('E')) return false;
  return setting.includes('A') || ['x', 'g', 'd'].every((kind) => setting.includes(kind));
}

interface KeyspaceEndingsParts {
  /** The conserver's Redis. */
  readonly url: string;
  readonly stream: string;
  readonly logger: Logger;
  /** Whether a vCon's end could be recorded: its hash is known. The UUID is in lower case. */
  isKnown(uuid: string): Promise<boolean>;
  /** Counts keys that ended, of vCons whose hash is unknown. */
  unknown(): void;
  /** Counts keys that ended while no wheel was looking, or whose look could not be stored. */
  unlooked(): void;
}

/**
 * Listens for vCons that leave the conserver's Redis, and asks the wheel to check whether they have ended: the key is
 * only a copy while a storage still has the vCon. Records nothing itself. Redis notifies at most once, and only if
 * configured; keys that end while no plugin listens are missed.
 */
export function startKeyspaceEndings(parts: KeyspaceEndingsParts): { close(): Promise<void> } {
  const { logger } = parts;
  const subscriber = new Redis(parts.url, { ...REDIS_OPTIONS, maxRetriesPerRequest: null });
  const commands = new Redis(parts.url, { ...REDIS_OPTIONS, maxRetriesPerRequest: 1 });
  for (const redis of [subscriber, commands])
    redis.on('error', (error) => logger.warn({ err: error }, 'the Redis of CONSERVER_REDIS_URL does not answer'));
  const under = new Set<Promise<void>>();
  const requests = createLookRequests({ ...parts, commands });

  async function checkSetting(): Promise<void> {
    // A server that does not reveal its settings, as some hosted ones, may still send notifications.
    const [, setting] = (await commands.config('GET', 'notify-keyspace-events').catch(() => [])) as string[];
    if (setting !== undefined && !notifiesOfEndings(setting))
      logger.warn(`the conserver’s Redis needs notify-keyspace-events ${NOTIFICATIONS}, and has "${setting}"`);
  }

  subscriber.on('ready', () => void checkSetting());
  subscriber.on('message', (channel: string, key: string) => {
    const reason = REASONS[CHANNEL.exec(channel)?.[1] ?? ''];
    const uuid = KEY.exec(key)?.[1];
    if (!reason || !uuid) return;
    const asked = requests.ask({ reason, key, uuid }).finally(() => under.delete(asked));
    under.add(asked);
  });
  const channels = Object.keys(REASONS).map((event) => `__keyevent@${subscriber.options.db ?? 0}__:${event}`);
  // The client subscribes again after every reconnect.
  subscriber
    .subscribe(...channels)
    .catch((error: unknown) =>
      logger.warn({ err: error }, 'expiries and deletions of vCons are not received until Redis answers'),
    );
  return {
    async close() {
      subscriber.disconnect();
      await Promise.all(under);
      await requests.close();
      commands.disconnect();
    },
  };
}
