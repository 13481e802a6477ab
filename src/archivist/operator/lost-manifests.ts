import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import type { KeyManifest } from '../../core/keys/key-manifest.js';
import { verifyKeptKeyManifest, verifyNextKeyManifest } from '../../core/keys/verify-key-manifests.js';
import type { LogState } from '../../ledger/log.js';
import { ApiError } from '../../platform/errors.js';
import type { Ids } from '../../platform/ids.js';
import { type KeyManifestRow, listKeyManifests } from '../../platform/keys/manifest/key-manifest-store.js';
import type { KeyManifests } from '../../platform/keys/manifest/key-manifests.js';
import { keptManifest } from '../../platform/keys/manifest/manifest-objects.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database } from '../../platform/postgres/database.js';

export interface LostManifestDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly ids: Ids;
  readonly manifests: KeyManifests;
}

/** A key manifest that the database has lost. */
interface LostManifest extends KeyManifestRow {
  readonly content: KeyManifest;
}

/** The key manifests of a deployment, in the order of their numbers. */
export interface AllManifests {
  /** The rows of the database, and after them those that it has lost. */
  readonly rows: readonly KeyManifestRow[];
  readonly lost: readonly LostManifest[];
}

function incomplete(what: string): ApiError {
  return new ApiError(
    'conflict',
    `${what}: the keys log cannot be brought back from the object store. Restore the database's newest backup. See docs/operate/halted-log.md.`,
  );
}

/**
 * Reads the key manifests that this process knows and the database has lost. They need no trust in the object store: each
 * is signed by the root key of its time and follows the one before, up to the newest one that this process has adopted.
 * @throws {ApiError} conflict if one of them is missing or does not follow, or the keys log has entries without one
 */
export async function lostManifests(deps: LostManifestDeps, { tenantId, leaves }: LogState): Promise<AllManifests> {
  const { database, objectStore, ids, manifests } = deps;
  const stored = await database.inTransaction('system', (tx) => listKeyManifests(tx, tenantId, 1n));
  const last = stored.at(-1);
  if (!last) throw incomplete('The database has no key manifest');
  // A manifest whose row is lost, and whose entry is not, would become an entry of the keys log a second time.
  if (BigInt(stored.length) < leaves)
    throw incomplete(`The database has ${stored.length} of its key manifests, and ${leaves} entries in its keys log`);
  const { current } = manifests;
  const lost: LostManifest[] = [];
  try {
    let newest = await verifyKeptKeyManifest(last.manifest, nodeVerify);
    while (newest.manifest.number < current.manifest.number) {
      const number = newest.manifest.number + 1;
      const bytes =
        number === current.manifest.number
          ? current.bytes
          : await keptManifest(objectStore, current.manifest.subject, number);
      if (!bytes) throw incomplete(`Key manifest ${number} is not in the object store`);
      newest = await verifyNextKeyManifest(newest, bytes, nodeVerify);
      lost.push({ number: BigInt(number), entryId: ids.uuid(), manifest: bytes, content: newest.manifest });
    }
    if (!equalBytes(newest.bytes, current.bytes))
      throw incomplete(`The database has another key manifest ${newest.manifest.number} than KEYS_DIR`);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw incomplete(`A key manifest does not follow: ${error.message}`);
  }
  return { rows: [...stored, ...lost], lost };
}
