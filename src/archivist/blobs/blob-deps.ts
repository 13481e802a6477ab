import type { Quotas } from '../../iam/tenancies/quotas.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database } from '../../platform/postgres/database.js';

/** What blobs and attachments depend on. */
export interface BlobDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly ids: Ids;
  /** Most bytes of a blob. */
  readonly blobLimit: number;
}
