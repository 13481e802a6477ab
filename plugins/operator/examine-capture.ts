import { Redis } from 'ioredis';
import { failureReason } from '../../src/platform/explain-failure.js';
import type { Logger } from '../../src/platform/logger.js';
import type { PluginConfig } from '../../src/platform/plugin-config.js';
import { notifiesOfEndings } from '../endings/keyspace-endings.js';
import type { Memory } from '../memory/memory.js';
import { type MemoryPlace, openMemory } from '../memory/open-memory.js';
import { refusedStream } from '../stream/stream-consumer.js';
import { processingList } from '../tap/egress-tap.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';
import { inspectRedis } from './inspected-redis.js';

const TIMEOUT_MS = 5_000;
/** A plugin that runs takes entries within a second. */
const BACKLOG = 1_000;

type CaptureConfig = Pick<PluginConfig, 'stream' | 'tapList' | 'endings'>;

async function streamFindings(redis: Redis, stream: string): Promise<Finding[]> {
  const [length, refused] = await Promise.all([redis.xlen(stream), redis.xlen(refusedStream(stream))]);
  const waiting = `${length} entries of ${stream} wait`;
  return [
    length > BACKLOG
      ? shouldChange('stream', waiting, 'see that the plugin runs and its queue answers')
      : ok('stream', waiting),
    refused === 0
      ? ok('refused entries', 'none')
      : shouldChange('refused entries', `${refused} in ${refusedStream(stream)}`, 'read the reasons there: XRANGE'),
  ];
}

async function tapFindings(redis: Redis, list: string | undefined): Promise<Finding[]> {
  if (list === undefined) return [];
  const [known] = (await redis.call('COMMAND', 'INFO', 'BLMOVE')) as unknown[];
  if (!known) return [broken('tap', 'this Redis does not know BLMOVE', 'use Redis 6.2 or newer for the conserver')];
  const length = (await redis.llen(list)) + (await redis.llen(processingList(list)));
  const waiting = `${length} entries of ${list} wait`;
  return [length > BACKLOG ? shouldChange('tap', waiting, 'see that the plugin runs') : ok('tap', waiting)];
}

function endingsFinding(setting: string | undefined): Finding {
  if (setting === undefined)
    return shouldChange('endings', 'unknown: this Redis tells no settings', 'see that it notifies');
  return notifiesOfEndings(setting)
    ? ok('endings', 'Redis notifies of them, to who listens at that moment: best effort')
    : shouldChange(
        'endings',
        'Redis does not notify of all of them: expiry and deletion are not recorded',
        'set notify-keyspace-events Exg, or PLUGIN_ENDINGS=off',
      );
}

/** What the plugin takes from the conserver's Redis: its stream, its tap, its notifications. Never throws. */
export async function examineCaptureRedis(url: string, config: CaptureConfig): Promise<Finding[]> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const { notifications } = await inspectRedis(url, ['BLMOVE']);
    return [
      ...(await streamFindings(redis, config.stream)),
      ...(await tapFindings(redis, config.tapList)),
      ...(config.endings ? [endingsFinding(notifications)] : []),
    ];
  } catch (error) {
    return [
      broken(
        'capture',
        `not looked at: ${failureReason(error)}`,
        'start the Redis of CONSERVER_REDIS_URL, or correct it',
      ),
    ];
  } finally {
    redis.disconnect();
  }
}

async function doubles(memory: Memory): Promise<Finding> {
  const found: string[] = [];
  for await (const operation of memory.names('doubles'))
    found.push(`${operation} by ${Object.keys(await memory.read('doubles', operation)).join(', ')}`);
  const change = 'keep one method for each operation: take the other out of config.yml';
  return found.length === 0
    ? ok('doubles', 'no operation is captured by two methods')
    : shouldChange('doubles', found.sort().join('; '), change);
}

/** Whether two methods capture the same operation, as the plugin has noticed. Never throws. */
export async function examineDoubles(place: MemoryPlace, logger: Logger): Promise<Finding[]> {
  const memory = openMemory(place, logger);
  try {
    return [await doubles(memory)];
  } catch (error) {
    return [broken('doubles', `not looked at: ${failureReason(error)}`, 'correct REDIS_URL or DATA_DIR')];
  } finally {
    await memory.close();
  }
}
