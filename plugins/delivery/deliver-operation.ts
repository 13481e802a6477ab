import type { LRUCache } from 'lru-cache';
import type { ArchivistClient } from '../archivist-client/archivist-client.js';
import { EventRefused } from '../archivist-client/delivery-failure.js';
import type { OperationJob } from '../operation/operation-job.js';

/** Tenancy and subject → identity of the asset. An asset never goes away, so an entry stays true. */
export type AssetCache = LRUCache<string, string>;

/** Attributes that make two events the same operation, whenever each was observed. */
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

async function assetOf(client: ArchivistClient, cache: AssetCache, job: OperationJob): Promise<string> {
  const { subject } = job;
  const known = cache.get(cacheKey(job));
  if (known) return known;
  const identity = (await client.findAsset(subject)) ?? (await client.createAsset(subject));
  cache.set(cacheKey(job), identity);
  return identity;
}

/**
 * Records a captured operation as an event of its vCon's asset, which is made if need be. Delivering twice makes one
 * event. Resolves with the event's identity.
 * @throws {EventRefused} the service will never take it; {@link DeliverLater} it may later
 */
export async function deliverOperation(
  client: ArchivistClient,
  cache: AssetCache,
  jobId: string,
  job: OperationJob,
): Promise<string> {
  const cached = cache.has(cacheKey(job));
  const asset = await assetOf(client, cache, job);
  try {
    return await client.recordEvent(asset, job, jobId);
  } catch (error) {
    if (!(error instanceof EventRefused)) throw error;
    if (error.status === 404 && cached) {
      // The service has lost what the cache remembers: another database, or a restored one.
      cache.delete(cacheKey(job));
      return client.recordEvent(await assetOf(client, cache, job), job, jobId);
    }
    const earlier = error.status === 422 ? await recordedEarlier(client, asset, job) : undefined;
    if (earlier === undefined) throw error;
    return earlier;
  }
}

/**
 * An operation that was delivered, forgotten by the queue and captured again has the first one's key and another time of
 * observation: the service refuses the second body, and the first event stands.
 */
function recordedEarlier(client: ArchivistClient, asset: string, job: OperationJob): Promise<string | undefined> {
  const same = SAME_OPERATION.flatMap((name) => {
    const value = job.attributes[name];
    return value ? [[name, value]] : [];
  });
  return client.findEvent(asset, Object.fromEntries(same));
}
