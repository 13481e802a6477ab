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
  /** How many there are, also where fewer are listed. */
  readonly setAsideCount: number;
  readonly notLookedAt: readonly string[];
}

const TIMEOUT_MS = 5_000;
const PAGE = 500;
/** More than a conserver's Redis has memory for. */
const EVERY_ONE = 10_000_000;
/** Begins the id of an entry of the stream. */
const ENTRY = 'stream:';

/** @throws {OperatorError} when that Redis does not answer, or refuses a command */
async function onRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const once = { maxRetriesPerRequest: 0, retryStrategy: () => null };
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, ...once });
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    return await work(redis);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const failed = `the stream of CONSERVER_REDIS_URL: ${failureReason(reason ?? error)}`;
    throw new OperatorError(failed, { cause: error });
  } finally {
    redis.disconnect();
  }
}

function fieldsOf(pairs: readonly string[]): Map<string, string> {
  return new Map(Array.from({ length: pairs.length >> 1 }, (_, place) => [pairs[2 * place]!, pairs[2 * place + 1]!]));
}

/** Items of one place, newest first, and how many there are. */
interface Listed {
  readonly items: readonly SetAside[];
  readonly count: number;
}

async function refusedEntries({ url, stream }: { url: string; stream: string }, most: number): Promise<Listed> {
  return onRedis(url, async (redis) => {
    const items: SetAside[] = [];
    for (let to = '+', isLast = false; items.length < most && !isLast; ) {
      const size = Math.min(PAGE, most - items.length);
      const entries = await redis.xrevrange(refusedStream(stream), to, '-', 'COUNT', size);
      for (const [id, pairs] of entries)
        items.push({ id: ENTRY + id, reason: fieldsOf(pairs).get('reason') ?? 'unknown' });
      isLast = entries.length < size;
      to = `(${entries.at(-1)?.[0]}`;
    }
    return { items, count: await redis.xlen(refusedStream(stream)) };
  });
}

async function failedReceipts(backend: QueueBackend, most: number): Promise<Listed> {
  const queue = backend.queue(RECEIPT_QUEUE);
  const jobs = most === 0 ? [] : await queue.getJobs(['failed'], 0, most - 1, false);
  const items = jobs.filter(Boolean).map((job) => ({ id: `receipt:${job.id}`, reason: job.failedReason }));
  return { items, count: await queue.getJobCountByTypes('failed') };
}

async function unreadFiles(folder: string, nowMs: number, most: number): Promise<Listed> {
  const files = (await spoolState(folder, nowMs)).setAside.toReversed();
  const reason = 'the file cannot be read as an operation';
  return { items: files.slice(0, most).map((file) => ({ id: `spool:${file}`, reason })), count: files.length };
}

/** Lists set-aside items, newest first, with a limit for each kind. @throws when the queue does not answer */
export async function listSetAside(places: SetAsidePlaces, nowMs: number, most: number): Promise<SetAsideList> {
  const notLookedAt: string[] = [];
  const nothing: Listed = { items: [], count: 0 };
  const entries = places.conserver
    ? await refusedEntries(places.conserver, most).catch((error: unknown) => {
        notLookedAt.push(failureReason(error));
        return nothing;
      })
    : nothing;
  const kinds = [entries, await unreadFiles(places.spool, nowMs, most), await failedReceipts(places.backend, most)];
  return {
    setAside: kinds.flatMap(({ items }) => items),
    setAsideCount: kinds.reduce((sum, { count }) => sum + count, 0),
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
async function replayEntry(redis: Redis, stream: string, id: string, correction: Correction): Promise<boolean> {
  const [entry] = await redis.xrange(refusedStream(stream), id, id);
  if (!entry) return false;
  const fields = correctedEntry(entry[1], correction);
  // One after the other: a Redis that is full refuses the first, and must then keep the only copy.
  await redis.xadd(stream, '*', ...fields);
  await redis.xdel(refusedStream(stream), id);
  return true;
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
 * @throws {OperatorError} when it does not exist, would be refused again for its operation or tenancy, or its place does not
 * answer
 */
export async function replaySetAside(places: SetAsidePlaces, id: string, correction: Correction = {}): Promise<void> {
  const [kind, name] = [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)];
  const { backend, spool, conserver } = places;
  let replayed: boolean;
  if (kind === 'spool') replayed = await replayFile(spool, name);
  else if (kind === 'receipt') replayed = await replayReceipt(backend, name);
  else if (conserver && /^\d+-\d+$/.test(name))
    replayed = await onRedis(conserver.url, (redis) => replayEntry(redis, conserver.stream, name, correction));
  else throw new OperatorError('an entry of the stream is replayed with CONSERVER_REDIS_URL set, as stream:<ms>-<n>');
  if (!replayed) throw new OperatorError(`nothing is set aside as ${id.slice(0, 200)}`);
}

/** What became of all set-aside items. */
interface ReplayedSetAside {
  readonly replayed: number;
  /** Why each of the others stays. */
  readonly staying: readonly SetAside[];
  readonly notLookedAt: readonly string[];
}

/** Retries every set-aside item that can be. */
export async function replayAllSetAside(places: SetAsidePlaces, nowMs: number): Promise<ReplayedSetAside> {
  const { setAside, notLookedAt } = await listSetAside(places, nowMs, EVERY_ONE);
  const staying: SetAside[] = [];
  const unreached: string[] = [];
  let replayed = 0;
  const each = async (ids: readonly string[], replay: (id: string) => Promise<unknown>): Promise<void> => {
    for (const id of ids)
      try {
        await replay(id);
        replayed += 1;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        staying.push({ id, reason: error.message });
      }
  };
  const ids = setAside.map(({ id }) => id);
  const entries = ids.filter((id) => id.startsWith(ENTRY));
  const { conserver } = places;
  if (conserver && entries.length > 0)
    await onRedis(conserver.url, (redis) =>
      each(entries, (id) => replayEntry(redis, conserver.stream, id.slice(ENTRY.length), {})),
    ).catch((error: Error) => unreached.push(error.message));
  await each(
    ids.filter((id) => !id.startsWith(ENTRY)),
    (id) => replaySetAside(places, id),
  );
  return { replayed, staying, notLookedAt: [...notLookedAt, ...unreached] };
}
