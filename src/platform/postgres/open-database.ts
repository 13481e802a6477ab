import { join } from 'node:path';
import { explained } from '../explain-failure.js';
import type { Logger } from '../logger.js';
import { openEmbedded } from './open-embedded.js';
import { openPostgresql } from './open-postgresql.js';
import type { DatabaseDisk, PooledDatabase } from './pooled-database.js';

/** The folder of the embedded database. */
export function embeddedFolder(dataDir: string): string {
  return join(dataDir, 'embedded');
}

/** Where a running service puts a copy of its embedded database. */
export function embeddedCopyFolder(dataDir: string): string {
  return join(embeddedFolder(dataDir), 'copy');
}

/** Which database to use. */
export interface DatabasePlace {
  /** `postgres://…`; undefined selects the embedded database. */
  readonly databaseUrl: string | undefined;
  /** The folder that contains the embedded database. */
  readonly dataDir: string;
}

/** How to open a database. */
interface OpenOptions {
  /** Also opens a database into which a restore has not finished. */
  readonly restoring?: boolean;
  /** Refuses a database that is not of this version, instead of migrating it. */
  readonly asItIs?: boolean;
  readonly disk?: DatabaseDisk;
}

/**
 * Opens the configured database, migrated to this version and under the service's role.
 * @throws {Error} naming the variable; also if a restore has not finished, or a newer version has migrated it
 */
export function openDatabase(place: DatabasePlace, logger: Logger, options: OpenOptions = {}): Promise<PooledDatabase> {
  const { databaseUrl, dataDir } = place;
  return databaseUrl
    ? explained('the database of DATABASE_URL cannot be opened', openPostgresql(databaseUrl, logger, options))
    : explained('the database in DATA_DIR cannot be opened', openEmbedded(embeddedFolder(dataDir), options));
}
