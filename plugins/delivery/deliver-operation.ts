import type { LRUCache } from 'lru-cache';
import type { ArchivistClient } from '../archivist-client/archivist-client.js';
import { EventRefused } from '../archivist-client/delivery-failure.js';
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

async function assetOf(client: ArchivistClient, cache: AssetCache, job: OperationJob): Promise<string> {
  const { subject } = job;
  const known = cache.get(cacheKey(job));
  if (known) return known;
  const identity = (await client.findAsset(subject)) ?? (await client.createAsset(subject));
  cache.set(cacheKey(job), identity);
  return identity;
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
  const cached = cache.has(cacheKey(job));
  const asset = await assetOf(client, cache, job);
  try {
    return await client.recordEvent(asset, job, jobId);
  } catch (error) {
    if (!(error instanceof EventRefused)) throw error;
    if (error.status === 404 && cached) {
      // The cached asset no longer exists in the service: it has another or a restored database.
      cache.delete(cacheKey(job));
      return client.recordEvent(await assetOf(client, cache, job), job, jobId);
    }
    const earlier = error.status === 422 ? await recordedEarlier(client, asset, job) : undefined;
    if (earlier === undefined) throw error;
    return earlier;
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
