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

/** Twice what a request may take (platform/http/http-server.ts). */
const GIVEN_UP_MS = 2 * 3_600_000;
const BATCH = 50;

/**
 * Removes what uploads left that never became blobs: broken off, refused by a quota, repeated, or cut short by a crash.
 * Answers how many. A crash between the bytes and the row repeats a removal, which does no harm.
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
