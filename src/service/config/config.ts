import { join, resolve } from 'node:path';
import { type PluginConfig, pluginConfig } from '../../../plugins/settings/plugin-config.js';
import { type BlobConfig, blobConfig } from '../../archivist/blobs/blob-config.js';
import { DEFAULT_QUOTAS, type Quotas } from '../../iam/tenancies/quotas.js';
import { type WitnessConfig, witnessConfig } from '../../ledger/witnesses/witness-config.js';
import type { Role } from '../../platform/feature.js';
import type { Pkcs11Token } from '../../platform/keys/pkcs11/pkcs11-uri.js';
import type { LogFormat, LogLevel } from '../../platform/logger.js';
import type { ObjectStorePlace } from '../../platform/open-object-store.js';
import { s3Place } from '../../platform/s3/s3-place.js';
import { type PayloadHashConfig, payloadHashConfig } from '../../scitt/payload-hash/payload-hash-config.js';
import { type BootstrapConfig, bootstrapConfig } from './bootstrap-config.js';
import { type Environment, environmentSchema, findContradiction } from './environment.js';
import { type HttpConfig, httpConfig } from './http-config.js';

/**
 * All settings of the operator, read once from the environment. The comment of each field is its manual. What one part of
 * the program reads is a section, declared beside that part.
 */
export interface Config {
  /**
   * `ROLE`, default `all`. `api`, `ledger` or `worker` runs only that part. Such processes need `DATABASE_URL`, share
   * `KEYS_DIR` and `OBJECT_STORE_URL`, and should have the same `PUBLIC_URL`, the issuer of receipts and tokens.
   */
  readonly role: Role;
  /** `PUBLIC_URL`, default `http://127.0.0.1:<PORT>`: base of every URL, issuer and audience; no trailing slash. */
  readonly publicUrl: string;
  /** `DATA_DIR`, default `./data`: embedded state and first credentials. */
  readonly dataDir: string;
  /** `KEYS_DIR`, default `DATA_DIR/keys`: private keys; all processes of a deployment use the same folder. */
  readonly keysDir: string;
  /**
   * `KEY_PROVIDER`, a PKCS #11 URI such as
   * `pkcs11:token=archive?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/run/secrets/pin`: signing keys are
   * created in that token and sign there. Unset, they are files in `KEYS_DIR`. Other secrets are always files there.
   */
  readonly keyProvider: Pkcs11Token | undefined;
  /** `DATABASE_URL`, `postgres://…`; unset, an embedded PostgreSQL in `DATA_DIR`. */
  readonly databaseUrl: string | undefined;
  /** `REDIS_URL`, `redis://…` or `rediss://…`; unset, queues live in the database. */
  readonly redisUrl: string | undefined;
  /**
   * `MIN_FREE_DISK_BYTES`, default 67108864 (64 MiB): if less is free on a disk of this machine, writes to it are refused.
   * With less than 32 MiB, also if this is 0, the disk of the embedded database counts as full.
   */
  readonly minFreeDiskBytes: number;
  /**
   * `OBJECT_STORE_URL`, `file:///…` or `s3://…`; unset, the folder `DATA_DIR/objects`. For S3 also `AWS_REGION`,
   * `AWS_ENDPOINT_URL_S3` and the credentials of AWS.
   */
  readonly objectStore: ObjectStorePlace;
  /**
   * `ANCHOR_SCHEDULE`, default every ten seconds: when SIMPLE_HASH events are anchored, and when anchors and seals are
   * written to the chain, as a cron pattern in UTC; six fields begin with seconds.
   */
  readonly anchorSchedule: string;
  /**
   * `AUDIT_SCHEDULE`, default `17 3 * * 0`: when the logs are audited, as a cron pattern in UTC; undefined for `off`.
   */
  readonly auditSchedule: string | undefined;
  /**
   * `QUOTAS`, such as `locations=50,assets=1000000,applications=unlimited`: maximum per tenancy; the names and their
   * defaults are in src/iam/tenancies/quotas.ts. Must be the same for all processes of a deployment.
   */
  readonly quotas: Quotas;
  /**
   * `LOG_FILES`, default `public`: who may read massifs and seals, which show how many events a tenancy has, and when.
   * `members` requires a token and shows the caller's own log and the public log.
   */
  readonly logFiles: 'public' | 'members';
  /**
   * `MAX_WAITING_ENTRIES`, default 5,000,000: while so many accepted entries wait for their logs, writes are refused
   * with 503 and Retry-After. An event is one or two entries, a public one three.
   */
  readonly maxWaitingEntries: number;
  readonly mail: {
    /** `SMTP_URL`, `smtp://…` or `smtps://…`: sends our e-mails; unset, they become `.eml` files in `DATA_DIR/mail`. */
    readonly smtpUrl: string | undefined;
    /** `MAIL_FROM`, one address, default `vcon-archivist@` and the host of `PUBLIC_URL`: the sender of our e-mails. */
    readonly from: string;
  };
  /**
   * `PRIVATE_IDENTITY_PROVIDERS`, default `refuse`: whether the identity provider and the webhooks of a tenancy may be in
   * a private network and use plain http. Set `allow` only if you trust the Owners of tenancies to name addresses in your
   * network.
   */
  readonly allowPrivate: boolean;
  /** `MASSIF_HEIGHT`, default 14: 2^(height−1) leaves per massif. Fixed when a log is created. */
  readonly massifHeight: number;
  /** `LOG_LEVEL`, default `warn`: trace, debug, info, warn, error, fatal or silent. */
  readonly logLevel: LogLevel;
  /** `LOG_FORMAT`, default `json`; `pretty` writes readable lines for a terminal. */
  readonly logFormat: LogFormat;
  /** `HASH_ENVELOPE_LABELS`, default `private`: `registered` writes 258 to 260 (COSE hash envelope). Both are read. */
  readonly hashEnvelopeLabels: 'private' | 'registered';
  readonly http: HttpConfig;
  readonly bootstrap: BootstrapConfig;
  readonly blobs: BlobConfig;
  readonly witnessing: WitnessConfig;
  readonly payloadHash: PayloadHashConfig;
  readonly plugin: PluginConfig;
  /** `ARCHIVIST_FAILPOINT`, for fault tests: kills the process at a named point, `name`, `name:n` or `file:path`. */
  readonly failpoint: string | undefined;
}

/** The environment has an invalid setting; the message names the variable and never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the configuration; an empty variable counts as unset. Folders become absolute.
 * @throws {ConfigError} naming every invalid variable
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    const reasons = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new ConfigError(reasons.join('; '));
  }
  const contradiction = findContradiction(parsed.data);
  if (contradiction !== undefined) throw new ConfigError(contradiction);
  return configOf(parsed.data);
}

function configOf(env: Environment): Config {
  const dataDir = resolve(env.DATA_DIR);
  const publicUrl = env.PUBLIC_URL ?? `http://127.0.0.1:${env.PORT}`;
  return Object.freeze({
    role: env.ROLE,
    publicUrl,
    dataDir,
    keysDir: env.KEYS_DIR === undefined ? join(dataDir, 'keys') : resolve(env.KEYS_DIR),
    keyProvider: env.KEY_PROVIDER,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    objectStore: objectStorePlace(env, dataDir),
    minFreeDiskBytes: env.MIN_FREE_DISK_BYTES,
    anchorSchedule: env.ANCHOR_SCHEDULE,
    auditSchedule: env.AUDIT_SCHEDULE === 'off' ? undefined : env.AUDIT_SCHEDULE,
    quotas: env.QUOTAS ?? DEFAULT_QUOTAS,
    logFiles: env.LOG_FILES,
    maxWaitingEntries: env.MAX_WAITING_ENTRIES,
    mail: Object.freeze({
      smtpUrl: env.SMTP_URL,
      from: env.MAIL_FROM ?? `vcon-archivist@${new URL(publicUrl).hostname}`,
    }),
    allowPrivate: env.PRIVATE_IDENTITY_PROVIDERS === 'allow',
    massifHeight: env.MASSIF_HEIGHT,
    logLevel: env.LOG_LEVEL,
    logFormat: env.LOG_FORMAT,
    hashEnvelopeLabels: env.HASH_ENVELOPE_LABELS,
    http: httpConfig(env),
    bootstrap: bootstrapConfig(env),
    blobs: blobConfig(env),
    witnessing: witnessConfig(env),
    payloadHash: payloadHashConfig(env),
    plugin: pluginConfig(env),
    failpoint: env.ARCHIVIST_FAILPOINT,
  });
}

function objectStorePlace(env: Environment, dataDir: string): ObjectStorePlace {
  const url = env.OBJECT_STORE_URL ?? { folder: join(dataDir, 'objects') };
  return 'folder' in url ? url : s3Place(url, env, dataDir);
}
