import { durabilityOf } from '../../src/platform/queue/redis-durability.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';
import { type InspectedRedis, inspectRedis } from './inspected-redis.js';

const WAITAOF = 'WAITAOF';
/** The commands with which conservers from before September 2026 store vCons; later ones store them as texts. */
const JSON_COMMANDS = ['JSON.SET', 'JSON.GET', 'JSON.MGET', 'JSON.DEL'];
/** BullMQ runs from 5.0 on and recommends 6.2. */
const OLDEST_VERSION = 5;
const RECOMMENDED_VERSION = 6.2;
/** Of the memory that Redis may use. */
const NEARLY_FULL = 0.9;

function versionFinding({ version }: InspectedRedis): Finding {
  const number = Number(/^\d+\.\d+/.exec(version)?.[0] ?? Number.NaN);
  if (!(number >= OLDEST_VERSION)) return broken('redis version', version || 'unknown', 'use Redis 7.2 or newer');
  return number < RECOMMENDED_VERSION
    ? shouldChange('redis version', version, 'use Redis 6.2 at least, better 7.2 or newer')
    : ok('redis version', version);
}

function appendOnlyFinding({ appendOnly, appendWrites }: InspectedRedis): Finding {
  if (!appendOnly)
    return broken('redis append-only file', 'off: every capture is refused', 'set appendonly yes, in the file too');
  return appendWrites
    ? ok('redis append-only file', 'on')
    : broken(
        'redis append-only file',
        'the last write to it failed',
        'check whether the disk of Redis is full or read-only',
      );
}

function fsyncFinding(redis: InspectedRedis): Finding {
  const policy = redis.appendFsync ?? 'unknown: the server does not reveal its settings';
  const durability = durabilityOf({ ...redis, knowsWaitAof: !redis.unknownCommands.includes(WAITAOF) });
  if (durability === 'synced with each command') return ok('redis fsync policy', policy);
  if (durability === 'synced on request') return ok('redis fsync policy', `${policy}; the plugin waits for the disk`);
  if (durability === 'not kept') return broken('redis fsync policy', 'nothing is written', 'set appendonly yes first');
  return shouldChange(
    'redis fsync policy',
    `${policy}: a power cut may lose what was captured within its last second`,
    'set appendfsync always, or use Redis 7.2 or newer',
  );
}

function evictionFinding({ evictionPolicy, maxMemory }: InspectedRedis): Finding {
  if (evictionPolicy === 'noeviction') return ok('redis eviction policy', 'noeviction');
  const change = 'set maxmemory-policy noeviction';
  if (evictionPolicy === undefined) return shouldChange('redis eviction policy', 'unknown', change);
  return maxMemory > 0
    ? broken('redis eviction policy', `${evictionPolicy}: jobs may be dropped when memory is full`, change)
    : shouldChange('redis eviction policy', `${evictionPolicy}, without a memory limit today`, change);
}

/** A Redis that is full gives out no job either: it never becomes empty by itself. */
function memoryFindings({ usedMemory, maxMemory }: InspectedRedis): Finding[] {
  const used = maxMemory === 0 ? 0 : usedMemory / maxMemory;
  if (used < NEARLY_FULL) return [];
  const found = `${Math.round(used * 100)} % of maxmemory is used: at 100 % nothing is captured, and nothing delivered`;
  return [shouldChange('redis memory', found, 'raise maxmemory')];
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}

/** Checks that the queue's Redis stores jobs durably. Never throws. */
export async function examineQueueRedis(url: string): Promise<Finding[]> {
  try {
    const redis = await inspectRedis(url, [WAITAOF]);
    return [
      versionFinding(redis),
      appendOnlyFinding(redis),
      fsyncFinding(redis),
      evictionFinding(redis),
      ...memoryFindings(redis),
    ];
  } catch (error) {
    return [broken('redis', `no answer: ${reasonOf(error)}`, 'start it, or correct REDIS_URL')];
  }
}

/**
 * Checks that a conserver's Redis is not the queue's, and tells which conservers can store vCons there. Never throws.
 * @param queueUrl of the queue's Redis, if it has one
 */
export async function examineConserverRedis(url: string, queueUrl: string | undefined): Promise<Finding[]> {
  try {
    const redis = await inspectRedis(url, JSON_COMMANDS);
    const missing = redis.unknownCommands;
    const json =
      missing.length === 0
        ? 'knows the JSON commands'
        : `does not support ${missing.join(', ')}: a conserver from before September 2026 cannot store vCons there`;
    const commands = ok('conserver redis', `${redis.version}, ${json}`);
    const queue = queueUrl ? await inspectRedis(queueUrl, [WAITAOF]).catch(() => undefined) : undefined;
    // Some hosted servers do not reveal their ids.
    if (redis.runId === '' || queue?.runId !== redis.runId) return [commands];
    const shared = shouldChange(
      'conserver redis',
      'is the queue’s too: vCons and evidence compete for one memory',
      'give the queue a Redis of its own, with an append-only file and noeviction',
    );
    return [commands, shared];
  } catch (error) {
    return [broken('conserver redis', `no answer: ${reasonOf(error)}`, 'start it, or correct --conserver-redis')];
  }
}
