import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';
import { embeddedFolder } from '../platform/postgres/open-database.js';
import { CLUSTER } from '../platform/postgres/open-embedded.js';

/** Checks that a folder has an embedded database, before anything is created there. @throws {UsageError} naming the folder */
export async function requireEmbedded(dataDir: string): Promise<void> {
  try {
    await access(join(embeddedFolder(dataDir), CLUSTER));
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new UsageError(
      isAbsent
        ? `there is no database in DATA_DIR ${dataDir}: set DATA_DIR or DATABASE_URL`
        : `the database in DATA_DIR cannot be opened: ${failureReason(error)}`,
    );
  }
}
