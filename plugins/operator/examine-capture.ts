import { Redis } from 'ioredis';
import type { Clock } from '../../src/platform/clock.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import type { Logger } from '../../src/platform/logger.js';
import { NOTIFICATIONS, notifiesOfEndings } from '../endings/keyspace-endings.js';
import { isLooking, type Looker, readLooker } from '../endings/look-list.js';
import type { Memory } from '../memory/memory.js';
import { type MemoryPlace, openMemory } from '../memory/open-memory.js';
import type { PluginConfig } from '../settings/plugin-config.js';
import { isAhead, readRedisClock } from '../stream/redis-clock.js';
import { refusedStream } from '../stream/stream-consumer.js';
import { processingList } from '../tap/egress-tap.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';
import { type InspectedRedis, inspectRedis } from './inspected-redis.js';

const TIMEOUT_MS = 5_000;
/** A running plugin takes entries within a second. */
const BACKLOG = 1_000;
const DAY_MS = 86_400_000;

/** Whether it may happen again, because its cause may still be there: it happened within a day, or nobody knows when. */
function isRecent(atMs: number, nowMs: number): boolean {
  return !(atMs < nowMs - DAY_MS);
}

type CaptureConfig = Pick<PluginConfig, 'stream' | 'tapList' | 'endings'>;

async function streamFindings(redis: Redis, stream: string): Promise<Finding[]> {
  const [length, refused] = await Promise.all([redis.xlen(stream), redis.xlen(refusedStream(stream))]);
  const waiting = `${length} waiting in ${stream}`;
  return [
    length > BACKLOG
      ? shouldChange('stream', waiting, 'check that the plugin is running and its queue responds')
      : ok('stream', waiting),
    refused === 0
      ? ok('refused entries', 'none')
      : shouldChange(
          'refused entries',
          `${refused} in ${refusedStream(stream)}`,
          'vcon-archivist queue shows the reasons; then queue replay',
        ),
  ];
}

/** Link and tracer hand their entries to this Redis: what it drops before the plugin has it is recorded nowhere. */
function evictionFindings({ evictionPolicy = 'noeviction', maxMemory }: InspectedRedis): Finding[] {
  if (evictionPolicy === 'noeviction' || maxMemory === 0) return [];
  const found = `${evictionPolicy}: the stream may be dropped as a whole when memory is full`;
  return [shouldChange('conserver redis eviction policy', found, 'set maxmemory-policy noeviction')];
}

/** Its clock, and the newest id of its stream, give what links and tracers report its time. */
async function clockFinding(redis: Redis, stream: string, clock: Clock): Promise<Finding> {
  const check = 'conserver clock';
  const shown = await readRedisClock(redis, clock);
  if (shown.differs) {
    const apart = `${Math.round(Math.abs(shown.aheadMs) / 1_000)} s ${shown.aheadMs > 0 ? 'ahead of' : 'behind'}`;
    const found = `the clock of the conserver’s Redis is ${apart} this machine’s`;
    return shouldChange(check, found, 'synchronise both clocks with NTP');
  }
  const told = (await redis.exists(stream)) > 0 ? ((await redis.xinfo('STREAM', stream)) as unknown[]) : [];
  const newestMs = Number.parseInt(String(told[told.indexOf('last-generated-id') + 1] ?? '0'), 10);
  if (!isAhead(newestMs, shown)) return ok(check, 'agrees with this machine’s');
  return shouldChange(
    check,
    `it was ahead before: ids of ${stream} are at ${new Date(newestMs).toISOString()}, and never go back`,
    'until then, links and tracers are recorded without the time of capture',
  );
}

async function tapFindings(redis: Redis, list: string | undefined): Promise<Finding[]> {
  if (list === undefined) return [];
  const [known] = (await redis.call('COMMAND', 'INFO', 'BLMOVE')) as unknown[];
  if (!known) return [broken('tap', 'this Redis does not support BLMOVE', 'use Redis 6.2 or newer for the conserver')];
  const length = (await redis.llen(list)) + (await redis.llen(processingList(list)));
  const waiting = `${length} waiting in ${list}`;
  return [length > BACKLOG ? shouldChange('tap', waiting, 'check that the plugin is running') : ok('tap', waiting)];
}

function notificationsFinding(setting: string | undefined): Finding {
  if (setting === undefined)
    return shouldChange(
      'endings',
      'unknown: this Redis does not reveal its settings',
      'check that it sends notifications',
    );
  return notifiesOfEndings(setting)
    ? ok('endings', 'Redis sends notifications; expiries while no plugin listens are missed')
    : shouldChange(
        'endings',
        `Redis notifies with "${setting}": expiry or deletion of some vCons is missed`,
        `set notify-keyspace-events ${NOTIFICATIONS}, or PLUGIN_ENDINGS=off`,
      );
}

/** A vCon that is gone from Redis may still be in a storage; only the wheel checks storages. */
function lookerFinding(looker: Looker): Finding {
  const waiting = `${looker.waiting} waiting to be looked for`;
  if (!isLooking(looker))
    return shouldChange(
      'endings in storages',
      `no wheel checks the storages, so no ending is recorded; ${waiting}`,
      'import vcon_archivist_link.watch in config.yml, or set PLUGIN_ENDINGS=off',
    );
  const asked = looker.storages.filter((name) => !looker.notAsked.includes(name));
  const left = looker.notAsked.length > 0 ? `; not asked, as configured: ${looker.notAsked.join(', ')}` : '';
  const told = `wheel ${looker.version} asks ${asked.join(', ') || 'no storage, because none is configured'}${left}; ${waiting}`;
  if (looker.unanswered === 0) return ok('endings in storages', told);
  const lastMs = looker.unansweredMs ?? Number.NaN;
  const last = Number.isNaN(lastMs) ? '' : `, the last at ${new Date(lastMs).toISOString()}`;
  const found = `${told}; ${looker.unanswered} got no final answer from a storage and were not recorded${last}`;
  return isRecent(lastMs, looker.nowMs)
    ? shouldChange('endings in storages', found, 'read the conserver’s log for the storage that failed')
    : ok('endings in storages', found);
}

/** Checks what the plugin reads from the conserver's Redis: its stream, clock, tap and notifications. Never throws. */
export async function examineCaptureRedis(url: string, config: CaptureConfig, clock: Clock): Promise<Finding[]> {
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
    const inspected = await inspectRedis(url, ['BLMOVE']);
    const { notifications } = inspected;
    return [
      ...evictionFindings(inspected),
      ...(await streamFindings(redis, config.stream)),
      await clockFinding(redis, config.stream, clock),
      ...(await tapFindings(redis, config.tapList)),
      ...(config.endings
        ? [notificationsFinding(notifications), lookerFinding(await readLooker(redis, config.stream))]
        : []),
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

async function doubles(memory: Memory, nowMs: number): Promise<Finding> {
  const found: string[] = [];
  let isNew = false;
  for await (const operation of memory.names('doubles')) {
    for (const [methods, last] of Object.entries(await memory.read('doubles', operation))) {
      found.push(`${operation} by ${methods}, the last at ${last}`);
      isNew ||= isRecent(Date.parse(last), nowMs);
    }
  }
  const told = found.sort().join('; ');
  if (isNew)
    return shouldChange('doubles', told, 'keep one method for each operation: take the other out of config.yml');
  return ok('doubles', `no operation is captured by two methods${told === '' ? '' : `; earlier ${told}`}`);
}

/** Checks whether two methods capture the same operation, as noticed by the plugin. Never throws. */
export async function examineDoubles(place: MemoryPlace, logger: Logger, clock: Clock): Promise<Finding[]> {
  const memory = openMemory(place, logger);
  try {
    return [await doubles(memory, clock.now())];
  } catch (error) {
    return [broken('doubles', `not looked at: ${failureReason(error)}`, 'correct REDIS_URL or DATA_DIR')];
  } finally {
    await memory.close();
  }
}
