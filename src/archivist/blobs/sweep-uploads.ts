import type { Clock } from '../../platform/clock.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database } from '../../platform/postgres/database.js';
import { blobObjectKey } from './blob.js';
import { endUpload, lockUploads } from './blob-upload-store.js';

export interface SweepDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly clock: Clock;
}

/** Twice the longest duration of a request (platform/http/http-server.ts). */
const GIVEN_UP_MS = 2 * 3_600_000;
const BATCH = 50;

/**
 * Removes the bytes of uploads that never became blobs: aborted, over quota, repeated, or interrupted by a crash.
 * Resolves with their number. A crash after the bytes are removed and before the row is repeats the removal, which is
 * harmless.
 */
export async function sweepUploads(deps: SweepDeps, stopping: () => boolean = () => false): Promise<number> {
  const before = new Date(deps.clock.now() - GIVEN_UP_MS);
  let swept = 0;
  for (let found = BATCH; found === BATCH && !stopping(); swept += found) {
    found = await deps.database.inTransaction('system', async (tx) => {
      const uploads = await lockUploads(tx, before, BATCH);
      for (const upload of uploads) {
        await deps.objectStore.remove(blobObjectKey(upload));
        await endUpload(tx, upload);
      }
      return uploads.length;
    });
  }
  return swept;
}
