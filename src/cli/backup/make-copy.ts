import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { equalBytes } from '../../core/bytes.js';
import { UsageError } from '../../core/evidence/usage-error.js';
import { syncFolder } from '../../platform/durable-file.js';
import { openObjectStore } from '../../platform/open-object-store.js';
import type { OwnerConnection } from '../../platform/postgres/owner-connection.js';
import { type OwnerClient, requireFinishedRestore } from '../../platform/postgres/table-copy-store.js';
import type { Config } from '../../service/config/config.js';
import { packageVersion } from '../../service/package-version.js';
import { COPIES, type CopyManifest, completeCopies, readCopyManifest, writeCopyManifest } from './copy-manifest.js';
import { type CopiedObject, copyObjects } from './copy-objects.js';
import { dumpDatabase } from './dump-database.js';
import { readJsonLines, writeHashed, writeJsonLines } from './hashed-file.js';
import { packSecrets, sealSecrets } from './sealed-secrets.js';

const OBJECT_LIST = 'objects.jsonl.gz';
export const SEALED_KEYS = 'keys.zip.age';

/** Folder of a copy that is not complete; the next run for the same deployment removes it. */
const unfinishedOf = (folder: string, deployment: string): string => join(folder, COPIES, `.unfinished-${deployment}`);

interface CopyRequest {
  readonly config: Config;
  readonly folder: string;
  /** age recipients of the keys; undefined copies no keys. */
  readonly recipients: readonly string[] | undefined;
  readonly now: Date;
  progress(text: string): void;
}

export interface MadeCopy {
  readonly name: string;
  readonly manifest: CopyManifest;
  /** Of the manifest, which holds the hash of everything else. */
  readonly sha256: string;
  readonly addedObjects: number;
  readonly missing: readonly string[];
  /** The newest earlier copy, if its list of objects cannot be read: nothing of it was reused. */
  readonly damaged: string | undefined;
}

/**
 * Makes a copy of a deployment in a backup folder. The database is read first and at one moment; then the objects that
 * belong to that moment, which exist by then and never change. A crash leaves no copy without its manifest.
 * @throws {UsageError}
 */
export async function makeCopy(owner: OwnerConnection, request: CopyRequest): Promise<MadeCopy> {
  const { config, folder, recipients, now, progress } = request;
  const name = now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  await requireInUse(owner.client);
  const { known, damaged } = await knownObjects(folder);
  const secrets = recipients && (await packSecrets(config));
  if (recipients) await sealSecrets(new Uint8Array(), recipients);
  const dumped = await dumpDatabase(owner.client, (deployment) => placeIn(folder, deployment), progress);
  if (!dumped) throw new UsageError('there is no deployment in this database: no service has started on it');
  const { state, migrations, tables, sequences } = dumped;
  const unfinished = unfinishedOf(folder, state.deployment);
  const store = await openObjectStore(config.objectStore);
  const copied = await copyObjects(store, { folder, known, now, progress }, state);
  const files = [...dumped.files];
  const list = await writeJsonLines(join(unfinished, OBJECT_LIST), Readable.from(copied.objects));
  files.push({ path: OBJECT_LIST, ...list });
  if (recipients && secrets) {
    // Keys that were rotated while the database was read do not fit it.
    if (!equalBytes(secrets, await packSecrets(config)))
      throw new Error('the files of KEYS_DIR changed while the copy was made: run the command again');
    const sealed = await sealSecrets(secrets, recipients);
    files.push({ path: SEALED_KEYS, ...(await writeHashed(join(unfinished, SEALED_KEYS), Readable.from([sealed]))) });
  }
  const manifest: CopyManifest = {
    format: 'vcon-archivist-copy/1',
    madeAt: now.toISOString(),
    program: packageVersion(),
    deployment: state.deployment,
    engine: config.databaseUrl ? 'PostgreSQL' : 'embedded PostgreSQL',
    migrations: [...migrations],
    tables: tables.map((table) => ({ ...table, columns: [...table.columns] })),
    sequences: [...sequences],
    logs: [...state.logs],
    lastBlock: state.lastBlock,
    lastManifest: state.lastManifest,
    objects: {
      count: copied.objects.length,
      size: copied.objects.reduce((sum, { size }) => sum + size, 0),
      missing: copied.missing.length,
    },
    keys: recipients ? 'encrypted' : 'not copied',
    files,
  };
  const sha256 = await writeCopyManifest(unfinished, manifest);
  await rename(unfinished, join(folder, COPIES, name));
  await syncFolder(join(folder, COPIES));
  return { name, manifest, sha256, addedObjects: copied.added, missing: copied.missing, damaged };
}

/** A schedule that still copies a database after it was moved would report success, and its copies would miss what is newer. */
async function requireInUse(client: OwnerClient): Promise<void> {
  await requireFinishedRestore(client).catch((error: Error) => {
    throw new UsageError(`the database cannot be copied: ${error.message}`);
  });
}

/** Where the copy of a deployment is made. @throws {UsageError} if the newest copy in the folder is of another deployment */
async function placeIn(folder: string, deployment: string): Promise<string> {
  const newest = (await completeCopies(folder)).at(-1);
  // One that cannot be read is reported by its list of objects, and by a restore.
  const copied =
    newest === undefined ? undefined : await readCopyManifest(join(folder, COPIES, newest)).catch(() => undefined);
  if (copied && copied.deployment !== deployment)
    throw new UsageError(`${folder} has copies of another deployment: give each deployment a folder of its own`);
  return unfinishedOf(folder, deployment);
}

/** Returns the objects of the newest complete copy, whose files are in the folder already; none if it is damaged. */
async function knownObjects(
  folder: string,
): Promise<{ readonly known: ReadonlyMap<string, CopiedObject>; readonly damaged: string | undefined }> {
  const newest = (await completeCopies(folder)).at(-1);
  const known = new Map<string, CopiedObject>();
  if (newest === undefined) return { known, damaged: undefined };
  try {
    for await (const object of objectsOf(join(folder, COPIES, newest))) known.set(object.key, object);
    return { known, damaged: undefined };
  } catch (error) {
    // A file that the system refuses just now, for example for want of rights, may be sound.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== 'ENOENT') throw error;
    return { known: new Map(), damaged: newest };
  }
}

/** Yields the objects of a copy. */
export async function* objectsOf(copy: string): AsyncGenerator<CopiedObject> {
  for await (const object of readJsonLines(join(copy, OBJECT_LIST))) yield object as CopiedObject;
}
