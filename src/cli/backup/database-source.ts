import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../core/evidence/usage-error.js';
import { explained } from '../../platform/explain-failure.js';
import { FolderLocked, lockFolder } from '../../platform/postgres/folder-lock.js';
import { embeddedCopyFolder, embeddedFolder } from '../../platform/postgres/open-database.js';
import {
  type OwnerConnection,
  openClusterOwner,
  openEmbeddedOwner,
  openServerOwner,
} from '../../platform/postgres/owner-connection.js';
import type { Config } from '../../service/config/config.js';
import { openOperatorClient } from '../operator-client.js';
import { requireEmbedded } from '../require-embedded.js';
import { lockCopying } from './copied-state-store.js';

const COPY_WITHIN_MS = 30 * 60_000;
/** Folder of the lock of a backup, beside the embedded database. */
const COPYING = 'copying';
const ANOTHER = 'another backup of this database is running: wait until it has ended';
const ANOTHER_ON_SERVER =
  'another backup, restore or move of this database is running: wait until it has ended, or stop it';

/**
 * Opens the database that a copy is made of, and locks it for one backup at a time: two would write to one folder. The
 * embedded database of a running service is first copied by that service, because only one process can open it.
 * @param url of the running service
 * @throws {UsageError} if there is no database, or another backup runs; {OperatorRefused} if the running service does not
 *   make the copy
 */
export async function openDatabaseSource(
  { databaseUrl, dataDir, keysDir }: Pick<Config, 'databaseUrl' | 'dataDir' | 'keysDir'>,
  url: string,
): Promise<OwnerConnection> {
  if (databaseUrl) return openServerAlone(databaseUrl, 'DATABASE_URL');
  const folder = embeddedFolder(dataDir);
  await requireEmbedded(dataDir);
  const lock = await lockFolder(join(folder, COPYING)).catch((error: unknown) => {
    throw error instanceof FolderLocked ? new UsageError(ANOTHER) : error;
  });
  try {
    // A killed backup leaves its copy of the database, which can fill the disk: the service would then make no other one.
    await rm(embeddedCopyFolder(dataDir), { recursive: true, force: true });
    const { client, close } = await openEmbedded(folder, url, keysDir);
    return { client, close: () => close().finally(() => lock.release()) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * Opens a server's database, for one backup, restore or move at a time: two restores would fill it side by side, and one
 * could empty it when the other has finished.
 * @param what the option or variable that names it
 * @throws {UsageError}
 */
export async function openServerAlone(databaseUrl: string, what: string): Promise<OwnerConnection> {
  const server = openServerOwner(databaseUrl);
  const owner = await explained(`the database of ${what} cannot be opened`, server).catch(usage);
  if (await lockCopying(owner.client)) return owner;
  await owner.close();
  throw new UsageError(ANOTHER_ON_SERVER);
}

async function openEmbedded(folder: string, url: string, keysDir: string): Promise<OwnerConnection> {
  try {
    return await openEmbeddedOwner(folder, false);
  } catch (error) {
    if (!(error instanceof FolderLocked)) throw error;
  }
  const operator = await openOperatorClient(url, keysDir);
  const answer = await operator.post('/database_copies', {}, COPY_WITHIN_MS);
  return openCopy(String(answer['folder']));
}

function usage(error: Error): never {
  throw new UsageError(error.message);
}

async function openCopy(copy: string): Promise<OwnerConnection> {
  const remove = () => rm(copy, { recursive: true, force: true });
  try {
    const { client, close } = await openClusterOwner(copy);
    return { client, close: () => close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
