import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../core/evidence/usage-error.js';
import { explained } from '../../platform/explain-failure.js';
import { FolderLocked } from '../../platform/postgres/folder-lock.js';
import { embeddedFolder } from '../../platform/postgres/open-database.js';
import { CLUSTER } from '../../platform/postgres/open-embedded.js';
import {
  type OwnerConnection,
  openClusterOwner,
  openEmbeddedOwner,
  openServerOwner,
} from '../../platform/postgres/owner-connection.js';
import type { Config } from '../../service/config/config.js';
import { openOperatorClient } from '../operator-client.js';

const COPY_WITHIN_MS = 30 * 60_000;

/**
 * Opens the database that a copy is made of. The embedded database of a running service is first copied by that
 * service, because only one process can open it.
 * @param url of the running service
 * @throws {UsageError} if there is no database; {OperatorRefused} if the running service does not make the copy
 */
export async function openDatabaseSource(
  { databaseUrl, dataDir, keysDir }: Pick<Config, 'databaseUrl' | 'dataDir' | 'keysDir'>,
  url: string,
): Promise<OwnerConnection> {
  if (databaseUrl)
    return explained('the database of DATABASE_URL cannot be opened', openServerOwner(databaseUrl)).catch(usage);
  const folder = embeddedFolder(dataDir);
  await access(join(folder, CLUSTER)).catch(() => {
    throw new UsageError(`there is no database in DATA_DIR ${dataDir}: set DATA_DIR or DATABASE_URL`);
  });
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
