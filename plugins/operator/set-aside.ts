import { Redis } from 'ioredis';
import { failureReason } from '../../src/platform/explain-failure.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { replayFile, spoolState } from '../capture/spool-folder.js';
import { namedOperation, OperationError } from '../operation/operation.js';
import { RECEIPT_QUEUE } from '../receipts/receipt-job.js';
import { refusedStream } from '../stream/stream-consumer.js';
import { OperatorError } from './operator-error.js';

/** An item that the plugin could not process and keeps for an operator. */
interface SetAside {
  /** The argument of `queue replay`: `stream:<entry>`, `spool:<file>` or `receipt:<job>`. */
  readonly id: string;
  readonly reason: string;
}

/** What an operator gives in place of what an entry of the stream says, which cannot be recorded. */
interface Correction {
  readonly operation?: string | undefined;
  readonly tenancy?: string | undefined;
}

/** Where a plugin sets items aside, apart from the dead letters of its queue. */
export interface SetAsidePlaces {
  readonly backend: QueueBackend;
  /** The folder of operations that wait on the local disk. */
  readonly spool: string;
  /** The conserver's Redis and the stream of the link and the tracer, if configured. */
  readonly conserver?: { readonly url: string; readonly stream: string } | undefined;
}

/** The items that are set aside, and the places that could not be read. */
export interface SetAsideList {
  readonly setAside: readonly SetAside[];
  readonly notLookedAt: readonly string[];
}

const TIMEOUT_MS = 5_000;

async function onRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const once = { maxRetriesPerRequest: 0, retryStrategy: () => null };
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, ...once });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

function fieldsOf(pairs: readonly string[]): Map<string, string> {
  return new Map(Array.from({ length: pairs.length >> 1 }, (_, place) => [pairs[2 * place]!, pairs[2 * place + 1]!]));
}

function refusedEntries({ url, stream }: { url: string; stream: string }, most: number): Promise<SetAside[]> {
  return onRedis(url, async (redis) => {
    const entries = await redis.xrevrange(refusedStream(stream), '+', '-', 'COUNT', Math.max(1, most));
    return entries.map(([id, pairs]) => ({ id: `stream:${id}`, reason: fieldsOf(pairs).get('reason') ?? 'unknown' }));
  });
}

async function failedReceipts(backend: QueueBackend, most: number): Promise<SetAside[]> {
  const jobs = await backend.queue(RECEIPT_QUEUE).getJobs(['failed'], 0, Math.max(0, most - 1), false);
  return jobs.filter(Boolean).map((job) => ({ id: `receipt:${job.id}`, reason: job.failedReason }));
}

/** Lists set-aside items, newest first, with a limit for each kind. @throws when the queue does not answer */
export async function listSetAside(places: SetAsidePlaces, nowMs: number, most: number): Promise<SetAsideList> {
  if (most === 0) return { setAside: [], notLookedAt: [] };
  const notLookedAt: string[] = [];
  const entries = places.conserver
    ? await refusedEntries(places.conserver, most).catch((error: unknown) => {
        notLookedAt.push(`the stream of CONSERVER_REDIS_URL: ${failureReason(error)}`);
        return [];
      })
    : [];
  const files = (await spoolState(places.spool, nowMs)).setAside.toReversed().slice(0, most);
  const reason = 'the file cannot be read as an operation';
  return {
    setAside: [
      ...entries,
      ...files.map((file) => ({ id: `spool:${file}`, reason })),
      ...(await failedReceipts(places.backend, most)),
    ],
    notLookedAt,
  };
}

/** @throws {OperatorError} when the plugin would refuse it again */
function correctedEntry(pairs: readonly string[], { operation, tenancy }: Correction): string[] {
  const fields = fieldsOf(pairs);
  fields.delete('reason');
  if (operation !== undefined) fields.set('operation', operation);
  if (tenancy !== undefined) fields.set('tenancy', tenancy);
  try {
    namedOperation(fields.get('operation') ?? '', { tenancy: fields.get('tenancy') });
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new OperatorError(`it would be refused again: ${error.message}; give another --operation or --tenancy`);
  }
  return [...fields].flat();
}

/** Appends a refused entry to its stream again, with the time at which it was first appended. */
async function replayEntry(
  { url, stream }: { url: string; stream: string },
  id: string,
  correction: Correction,
): Promise<boolean> {
  return onRedis(url, async (redis) => {
    const [entry] = await redis.xrange(refusedStream(stream), id, id);
    if (!entry) return false;
    const fields = correctedEntry(entry[1], correction);
    // One after the other: a Redis that is full refuses the first, and must then keep the only copy.
    await redis.xadd(stream, '*', ...fields);
    await redis.xdel(refusedStream(stream), id);
    return true;
  });
}

async function replayReceipt(backend: QueueBackend, id: string): Promise<boolean> {
  const job = await backend.queue(RECEIPT_QUEUE).getJob(id);
  if (!job || (await job.getState()) !== 'failed') return false;
  await job.retry('failed', { resetAttemptsMade: true });
  return true;
}

/** True if an id is that of a set-aside item, not of a job. */
export function isSetAsideId(id: string): boolean {
  return /^(?:stream|spool|receipt):/.test(id);
}

/**
 * Retries a set-aside item.
 * @param correction only for an entry of the stream
 * @throws {OperatorError} when it does not exist, or would be refused again for its operation or tenancy
 */
export async function replaySetAside(places: SetAsidePlaces, id: string, correction: Correction = {}): Promise<void> {
  const [kind, name] = [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)];
  const { backend, spool, conserver } = places;
  let replayed: boolean;
  if (kind === 'spool') replayed = await replayFile(spool, name);
  else if (kind === 'receipt') replayed = await replayReceipt(backend, name);
  else if (conserver && /^\d+-\d+$/.test(name)) replayed = await replayEntry(conserver, name, correction);
  else throw new OperatorError('an entry of the stream is replayed with CONSERVER_REDIS_URL set, as stream:<ms>-<n>');
  if (!replayed) throw new OperatorError(`nothing is set aside as ${id.slice(0, 200)}`);
}

/** Retries every set-aside item that can be. Resolves with their number, and why each of the others stays. */
export async function replayAllSetAside(
  places: SetAsidePlaces,
  nowMs: number,
  most: number,
): Promise<{ readonly replayed: number; readonly staying: readonly SetAside[] }> {
  const { setAside } = await listSetAside(places, nowMs, most);
  const staying: SetAside[] = [];
  for (const { id } of setAside)
    await replaySetAside(places, id).catch((error: unknown) => {
      if (!(error instanceof OperatorError)) throw error;
      staying.push({ id, reason: error.message });
    });
  return { replayed: setAside.length - staying.length, staying };
}
