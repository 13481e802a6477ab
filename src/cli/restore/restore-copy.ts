import { join } from 'node:path';
import { UsageError } from '../../core/evidence/usage-error.js';
import { explained } from '../../platform/explain-failure.js';
import { openObjectStore, prepareObjectStore } from '../../platform/open-object-store.js';
import { embeddedFolder } from '../../platform/postgres/open-database.js';
import { type OwnerConnection, openEmbeddedOwner, openServerOwner } from '../../platform/postgres/owner-connection.js';
import { beginRestoring, placeState } from '../../platform/postgres/table-copy-store.js';
import type { Config } from '../../service/config/config.js';
import { type CopyManifest, readCopyManifest } from '../backup/copy-manifest.js';
import type { CopiedObject } from '../backup/copy-objects.js';
import { hashFile } from '../backup/hashed-file.js';
import { objectsOf, SEALED_KEYS } from '../backup/make-copy.js';
import { openSecrets, placeSecrets } from '../backup/sealed-secrets.js';
import { foundAt } from '../found-at.js';
import { readInput } from '../read-input.js';
import { loadDatabase, requireKnownSchema } from './load-database.js';
import { chainHalt, haltReasons, type PublishedSince, publishedSince } from './published-since.js';
import { restoreObjects } from './restore-objects.js';

export interface RestoreRequest {
  readonly config: Config;
  /** The backup folder, and the copy in it. */
  readonly backup: string;
  readonly copy: string;
  /** age identities that open the keys; undefined restores no keys. */
  readonly identities: readonly string[] | undefined;
  /** What the operator says about the time after the copy, if the object store does not show it. */
  readonly since: 'nothing was published' | 'halt the logs' | undefined;
  progress(text: string): void;
}

export interface RestoredCopy {
  readonly manifest: CopyManifest;
  readonly objects: number;
  readonly published: PublishedSince;
  /** Logs that sign nothing more, each with the reason. */
  readonly halted: ReadonlyMap<string, string>;
  /** Why the chain gets no more blocks. */
  readonly haltedChain: string | undefined;
}

/**
 * Restores a copy into an empty place, which stays marked as unfinished: no service starts on it before `endRestoring`.
 * After a crash, the same call drops the half-filled database and goes on.
 * @throws {UsageError} before anything is changed, if the copy is damaged or the place is in use
 */
export async function restoreCopy(request: RestoreRequest): Promise<RestoredCopy> {
  const { config, backup, copy, identities, progress } = request;
  const manifest = await readCopyManifest(copy);
  await requireKnownSchema(manifest);
  await checkFiles(copy, manifest, progress);
  if (identities && manifest.keys !== 'encrypted')
    throw new UsageError('this copy has no keys: put KEYS_DIR in place yourself, then give --without-keys');
  const sealed = identities && new Uint8Array(await readInput(join(copy, SEALED_KEYS)));
  const secrets = sealed && (await openSecrets(sealed, identities));
  const objects: CopiedObject[] = [];
  for await (const object of objectsOf(copy)) objects.push(object);
  const store = await openObjectStore(config.objectStore);
  const inStore = new Set(await store.list(''));
  const published = publishedSince(manifest, objects, inStore);
  requireDecision(request, isUnseen(published));
  const owner = await openTarget(config);
  try {
    const place = await placeState(owner.client);
    if (place.state === 'in use' || place.state === 'moved')
      throw new UsageError('the database is in use by a deployment: restore into an empty one');
    // The interrupted attempt before this one may have filled the object store.
    const unseen = place.unseen === true || isUnseen(published);
    requireDecision(request, unseen);
    const halted = haltReasons(manifest, published, request.since === 'halt the logs');
    await explained('OBJECT_STORE_URL cannot be used', prepareObjectStore(config.objectStore));
    await beginRestoring(owner.client, { unseen });
    if (secrets) await placeSecrets(secrets, config);
    await restoreObjects(backup, store, objects, progress);
    await loadDatabase(owner.client, copy, manifest, { halted, progress });
    return {
      ...{ manifest, objects: objects.length, published, halted },
      haltedChain: chainHalt(manifest, published, halted),
    };
  } finally {
    await owner.close();
  }
}

async function checkFiles(copy: string, { files }: CopyManifest, progress: (text: string) => void): Promise<void> {
  for (const { path, size, sha256 } of files) {
    progress(`checking ${path}`);
    const found = await foundAt(join(copy, path), hashFile(join(copy, path)));
    if (found?.sha256 !== sha256 || found.size !== size)
      throw new UsageError(
        `${path} of the copy is ${found ? 'damaged' : 'missing'}: its hash is not that of the manifest`,
      );
  }
}

const isUnseen = ({ known, later }: PublishedSince): boolean => !known && later.length === 0;

/**
 * Checks that the operator has decided whether anything was published after the copy, if the object store did not show it:
 * a service that continues from an older state signs a second history.
 */
function requireDecision({ since }: RestoreRequest, unseen: boolean): void {
  if (!unseen || since !== undefined) return;
  throw new UsageError(
    'the object store does not show whether anything was published after this copy. If nothing was, give --nothing-published-since. If something was, or you do not know, give --halt-logs. See docs/operate/backup.md',
  );
}

async function openTarget({ databaseUrl, dataDir }: Config): Promise<OwnerConnection> {
  const target = databaseUrl
    ? explained('the database of DATABASE_URL cannot be opened', openServerOwner(databaseUrl))
    : explained('the database in DATA_DIR cannot be opened', openEmbeddedOwner(embeddedFolder(dataDir), true));
  return target.catch((error: Error) => {
    throw new UsageError(error.message);
  });
}
