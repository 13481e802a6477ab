import { z } from 'zod';
import { findPluginContradiction, pluginVariables } from '../../../plugins/settings/plugin-config.js';
import { blobVariables } from '../../archivist/blobs/blob-config.js';
import { findWitnessContradiction, witnessVariables } from '../../ledger/witnesses/witness-config.js';
import {
  baseUrl,
  countOf,
  cronPattern,
  cronPatternOrOff,
  emailAddress,
  numeric,
  postgresUrl,
  url,
} from '../../platform/config-values.js';
import { LOG_FORMATS, LOG_LEVELS } from '../../platform/logger.js';
import { objectStoreUrl } from '../../platform/open-object-store.js';
import { findS3Contradiction, s3Variables } from '../../platform/s3/s3-place.js';
import { payloadHashVariables } from '../../scitt/payload-hash/payload-hash-config.js';
import { bootstrapVariables, findBootstrapContradiction } from './bootstrap-config.js';
import { keyProvider, quotas } from './deployment-values.js';
import { findHttpContradiction, httpVariables } from './http-config.js';

/** All variables of the environment, with the form of each: those of a part of the program stand beside that part. */
export const environmentSchema = z.object({
  ROLE: z.enum(['all', 'api', 'ledger', 'worker']).default('all'),
  ...httpVariables,
  PUBLIC_URL: baseUrl.optional(),
  DATA_DIR: z.string().default('./data'),
  KEYS_DIR: z.string().optional(),
  KEY_PROVIDER: keyProvider.optional(),
  DATABASE_URL: postgresUrl.optional(),
  REDIS_URL: url(['redis:', 'rediss:']).optional(),
  OBJECT_STORE_URL: objectStoreUrl.optional(),
  ...s3Variables,
  MIN_FREE_DISK_BYTES: numeric(/^(0|[1-9]\d{0,14})$/, 'must be a whole number of bytes, 0 or more').default(
    64 * 1024 * 1024,
  ),
  ...blobVariables,
  ANCHOR_SCHEDULE: cronPattern.default('*/10 * * * * *'),
  AUDIT_SCHEDULE: cronPatternOrOff.default('17 3 * * 0'),
  QUOTAS: quotas.optional(),
  ...witnessVariables,
  LOG_FILES: z.enum(['public', 'members']).default('public'),
  MAX_WAITING_ENTRIES: countOf('entries', 9).default(5_000_000),
  ...bootstrapVariables,
  SMTP_URL: url(['smtp:', 'smtps:']).optional(),
  MAIL_FROM: emailAddress.optional(),
  PRIVATE_IDENTITY_PROVIDERS: z.enum(['refuse', 'allow']).default('refuse'),
  MASSIF_HEIGHT: numeric(/^([2-9]|1\d|20)$/, 'must be between 2 and 20').default(14),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('warn'),
  LOG_FORMAT: z.enum(LOG_FORMATS).default('json'),
  HASH_ENVELOPE_LABELS: z.enum(['private', 'registered']).default('private'),
  ...payloadHashVariables,
  ...pluginVariables,
  ARCHIVIST_FAILPOINT: z.string().optional(),
});
export type Environment = z.output<typeof environmentSchema>;

/** Names of all variables that the program reads. */
export const CONFIG_VARIABLES: readonly string[] = Object.keys(environmentSchema.shape);

/** Returns an error if variables contradict each other, otherwise undefined. */
export function findContradiction(env: Environment): string | undefined {
  if (env.ROLE !== 'all' && env.DATABASE_URL === undefined)
    return `ROLE: ${env.ROLE} shares its database with other processes and needs DATABASE_URL`;
  if (env.PORT === 0 && env.PUBLIC_URL === undefined)
    return 'PORT: 0 takes a different port at each start; set PUBLIC_URL, which must stay the same';
  return (
    findHttpContradiction(env) ??
    findS3Contradiction(env) ??
    findBootstrapContradiction(env) ??
    findWitnessContradiction(env) ??
    findPluginContradiction(env)
  );
}
