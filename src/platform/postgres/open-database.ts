import { join } from 'node:path';
import type { Config } from '../config.js';
import type { Logger } from '../logger.js';
import { openEmbedded } from './open-embedded.js';
import { openPostgresql } from './open-postgresql.js';
import type { PooledDatabase } from './pooled-database.js';

/** The database that the configuration names, migrated and under the service's role. */
export function openDatabase(config: Pick<Config, 'databaseUrl' | 'dataDir'>, logger: Logger): Promise<PooledDatabase> {
  return config.databaseUrl
    ? openPostgresql(config.databaseUrl, logger)
    : openEmbedded(join(config.dataDir, 'embedded'));
}
