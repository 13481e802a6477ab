import { z } from 'zod';
import { findPluginContradiction, pluginVariables } from '../../../plugins/settings/plugin-config.js';
import {
  baseUrl,
  clamavUrl,
  countOf,
  cronPattern,
  cronPatternOrOff,
  emailAddress,
  objectStoreDir,
  origins,
  port,
  url,
} from '../../platform/config-values.js';
import { LOG_FORMATS, LOG_LEVELS } from '../../platform/logger.js';
import { payloadHashVariables } from '../../scitt/payload-hash/payload-hash-config.js';
import { clientId, clientSecret, hasTwins, keyProvider, numeric, quotas, witnesses } from './deployment-values.js';
import { httpVariables } from './http-config.js';

/** All variables of the environment, with the form of each. */
export const environmentSchema = z.object({
  ROLE: z.enum(['all', 'api', 'ledger', 'worker']).default('all'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  ...httpVariables,
  PUBLIC_URL: baseUrl.optional(),
  CORS_ORIGINS: origins.default([]),
  DATA_DIR: z.string().default('./data'),
  KEYS_DIR: z.string().optional(),
  KEY_PROVIDER: keyProvider.optional(),
  DATABASE_URL: url(['postgres:', 'postgresql:']).optional(),
  REDIS_URL: url(['redis:', 'rediss:']).optional(),
  OBJECT_STORE_URL: objectStoreDir.optional(),
  MIN_FREE_DISK_BYTES: numeric(/^(0|[1-9]\d{0,14})$/, 'must be a whole number of bytes, 0 or more').default(
    64 * 1024 * 1024,
  ),
  BLOB_LIMIT: countOf('bytes', 15).default(512 * 1024 * 1024),
  CLAMAV_URL: clamavUrl.optional(),
  BLOB_SCAN_SCHEDULE: cronPattern.default('0 3 * * *'),
  ANCHOR_SCHEDULE: cronPattern.default('*/10 * * * * *'),
  AUDIT_SCHEDULE: cronPatternOrOff.default('17 3 * * 0'),
  QUOTAS: quotas.optional(),
  WITNESSES: witnesses.default([]),
  WITNESS_QUORUM: countOf('witnesses', 3).optional(),
  WITNESS_SECONDS: numeric(/^([1-9]|[1-5]\d)$/, 'must be 1 to 59 seconds').default(10),
  LOG_FILES: z.enum(['public', 'members']).default('public'),
  DOWNLOAD_BUDGET: countOf('bytes', 15).default(1024 * 1024 * 1024),
  RATE_LIMIT: countOf('requests', 7).optional(),
  MAX_WAITING_ENTRIES: countOf('entries', 9).default(5_000_000),
  BOOTSTRAP_CLIENT_ID: clientId,
  BOOTSTRAP_CLIENT_SECRET: clientSecret,
  BOOTSTRAP_PLUGIN_CLIENT_ID: clientId,
  BOOTSTRAP_PLUGIN_CLIENT_SECRET: clientSecret,
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

/** Returns what is wrong with a combination of variables. */
export function findContradiction(env: Environment): string | undefined {
  if (env.ROLE !== 'all' && env.DATABASE_URL === undefined)
    return `ROLE: ${env.ROLE} shares its database with other processes and needs DATABASE_URL`;
  if (env.PORT === 0 && env.PUBLIC_URL === undefined)
    return 'PORT: 0 takes a different port at each start; set PUBLIC_URL, which must stay the same';
  if ((env.TLS_CERTIFICATE_FILE === undefined) !== (env.TLS_KEY_FILE === undefined))
    return 'TLS_CERTIFICATE_FILE: must be set together with TLS_KEY_FILE';
  if ((env.BOOTSTRAP_PLUGIN_CLIENT_ID === undefined) !== (env.BOOTSTRAP_PLUGIN_CLIENT_SECRET === undefined))
    return 'BOOTSTRAP_PLUGIN_CLIENT_ID: must be set together with BOOTSTRAP_PLUGIN_CLIENT_SECRET';
  if (env.WITNESS_QUORUM !== undefined && env.WITNESS_QUORUM > env.WITNESSES.length)
    return `WITNESS_QUORUM: is larger than the number of WITNESSES, ${env.WITNESSES.length}`;
  if (hasTwins(env.WITNESSES)) return 'WITNESSES: two entries have the same name or the same key';
  return findPluginContradiction(env);
}
