import type { LRUCache } from 'lru-cache';
import type { ArchivistClient } from '../archivist-client/archivist-client.js';
import { DeliverLater, EventRefused } from '../archivist-client/delivery-failure.js';
import type { OperationJob } from '../operation/operation-job.js';

/** Tenancy and subject → identity of the asset. Assets are never deleted, so entries stay valid. */
type AssetCache = LRUCache<string, string>;

/** Two events with equal attributes of these are the same operation, even if observed at different times. */
const SAME_OPERATION = [
  'payload',
  'vcon_operation',
  'vcon_operation_reported',
  'conserver_link_name',
  'conserver_chain',
];

function cacheKey({ tenancy = '', subject }: OperationJob): string {
  return `${tenancy} ${subject}`;
}

/** Why the service does not let the plugin record on an asset that it found: it may only read it, or no longer. */
function isRefusedThere(error: unknown): boolean {
  if (error instanceof EventRefused) return error.status === 404;
  return error instanceof DeliverLater && error.isOfService && error.status === 403;
}

/** Records on this asset. An operation that stands there already resolves with its event. */
async function recordOn(client: ArchivistClient, asset: string, jobId: string, job: OperationJob): Promise<string> {
  try {
    return await client.recordEvent(asset, job, jobId);
  } catch (error) {
    if (!(error instanceof EventRefused && error.status === 422)) throw error;
    const earlier = await recordedEarlier(client, asset, job);
    if (earlier === undefined) throw error;
    return earlier;
  }
}

/**
 * Records a captured operation as an event on its vCon's asset, which is created if necessary. Delivering twice creates
 * one event. Resolves with the event's identity.
 * @throws {EventRefused} if the service refuses it permanently; {@link DeliverLater} if a retry may succeed
 */
export async function deliverOperation(
  client: ArchivistClient,
  cache: AssetCache,
  jobId: string,
  job: OperationJob,
): Promise<string> {
  const { subject } = job;
  const create = async (): Promise<string> => {
    const created = await client.createAsset(subject);
    cache.set(cacheKey(job), created);
    return created;
  };
  const cached = cache.get(cacheKey(job));
  const known = cached ?? (await client.findAsset(subject));
  if (known === undefined) return recordOn(client, await create(), jobId, job);
  cache.set(cacheKey(job), known);
  try {
    return await recordOn(client, known, jobId, job);
  } catch (error) {
    if (!isRefusedThere(error)) throw error;
    cache.delete(cacheKey(job));
    // A remembered asset is gone when the service has another or a restored database, which may have one of its own.
    const found = cached === undefined ? undefined : await client.findAsset(subject);
    const other = found === undefined || found === known ? await create() : found;
    if (other === known && error instanceof DeliverLater) throw error;
    cache.set(cacheKey(job), other);
    return recordOn(client, other, jobId, job);
  }
}

/**
 * An operation that was delivered, forgotten by the queue and captured again has the same key but a different time of
 * observation. The service refuses the second body, and the first event stays.
 */
function recordedEarlier(client: ArchivistClient, asset: string, job: OperationJob): Promise<string | undefined> {
  const same = SAME_OPERATION.flatMap((name) => {
    const value = job.attributes[name];
    return value ? [[name, value]] : [];
  });
  return client.findEvent(asset, Object.fromEntries(same));
}
