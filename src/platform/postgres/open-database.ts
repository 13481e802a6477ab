import { join } from 'node:path';
import type { Config } from '../config.js';
import { explained } from '../explain-failure.js';
import type { Logger } from '../logger.js';
import { openEmbedded } from './open-embedded.js';
import { openPostgresql } from './open-postgresql.js';
import type { PooledDatabase } from './pooled-database.js';

/** Opens the configured database, migrated and under the service's role. @throws {Error} naming the variable */
export function openDatabase(config: Pick<Config, 'databaseUrl' | 'dataDir'>, logger: Logger): Promise<PooledDatabase> {
  return config.databaseUrl
    ? explained('the database of DATABASE_URL cannot be opened', openPostgresql(config.databaseUrl, logger))
    : explained('the database in DATA_DIR cannot be opened', openEmbedded(join(config.dataDir, 'embedded')));
}
