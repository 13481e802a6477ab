import { resolve } from 'node:path';
import { z } from 'zod';
import { baseUrl, clientId, countOf, port, url } from '../../src/platform/config-values.js';

/** The conserver plugin: inside the service or as its own process. */
export interface PluginConfig {
  /** Not a variable: `HOST` if there is a secret or client certificates are required; otherwise always loopback. */
  readonly host: string;
  /** `PLUGIN_PORT`, default 8081; 0 runs no plugin inside the service. */
  readonly port: number;
  /** `PLUGIN_SECRET`, at least 16 characters: the bearer token that the conserver sends. */
  readonly secret: string | undefined;
  /**
   * `PLUGIN_TLS_CERT` and `PLUGIN_TLS_KEY`, paths of PEM files: listen with TLS. With `PLUGIN_TLS_CLIENT_CA`, callers
   * must also present a certificate of this authority.
   */
  readonly tls: PluginTls | undefined;
  /**
   * `PLUGIN_FAIL`, default `closed`: a request that cannot be queued is refused, and the conserver puts the vCon in its
   * dead-letter list. `open`: it is stored in `DATA_DIR` until the queue is back, and the chain goes on.
   */
  readonly failOpen: boolean;
  /**
   * `PLUGIN_DRAIN_SECONDS`, 0 to 20, default 0: how long a stopping plugin reports itself as unhealthy and still
   * accepts requests, so that a load balancer can switch to another one.
   */
  readonly drainSeconds: number;
  /** `PLUGIN_BULK`, default `on`: send many events in one request if the service supports that. */
  readonly bulk: boolean;
  /** `PLUGIN_RECEIPTS`, default `on`: after delivery, fetch, check and store the receipt. */
  readonly receipts: boolean;
  /** `PLUGIN_REPORTS`, default `on`: report queue depth, dead letters and gaps to the service once a minute. */
  readonly reports: boolean;
  /** `PLUGIN_RECEIPT_URL`: URL to which each receipt is posted. */
  readonly receiptUrl: string | undefined;
  /**
   * `PLUGIN_RECEIPT_KEY`, such as `receipt:{uuid}:{hash}`: key in the conserver's Redis under which each receipt is
   * stored.
   */
  readonly receiptKey: string | undefined;
  /** `PLUGIN_RECEIPT_DAYS`, default 90: days after which such a key expires. */
  readonly receiptDays: number;
  /**
   * `PLUGIN_LABEL_SECRET`, at least 16 characters, default the client secret: key of the hash that replaces a link or
   * chain name if the name looks like a telephone number or an e-mail address.
   */
  readonly labelSecret: string | undefined;
  /**
   * `CONSERVER_REDIS_URL`: the Redis where the wheel writes what it saw, and where vCons expire. Unset, only the
   * receiver captures.
   */
  readonly conserverRedisUrl: string | undefined;
  /** `CONSERVER_STREAM`, default `vcon-evidence`: the stream that the link and the tracer write to. */
  readonly stream: string;
  /**
   * `CONSERVER_TAP_LIST`: an egress list of every chain, read only by the plugin: it reports vCons that left without an
   * event.
   */
  readonly tapList: string | undefined;
  /**
   * `PLUGIN_ENDINGS`, default `on`: when that Redis reports that a vCon was removed, the plugin asks the wheel whether
   * the vCon has ended.
   */
  readonly endings: boolean;
  /** `ARCHIVIST_URL`: the service that events are delivered to; unset, the service in the same process. */
  readonly archivistUrl: string | undefined;
  /** `ARCHIVIST_CLIENT_ID` and `ARCHIVIST_CLIENT_SECRET`; if unset inside the service, the first Owner application. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** `ARCHIVIST_TENANCIES`: a JSON file, `{"<tenancy>": {"client_id", "client_secret", "label_secret"?}}`, for operations that name a tenancy. */
  readonly tenanciesFile: string | undefined;
}

interface PluginTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
}

const onOff = z.enum(['on', 'off']).transform((value) => value === 'on');
const path = z.string().transform((text) => resolve(text));
const redisKey = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters');

/** The plugin's part of the environment. */
export const pluginVariables = {
  PLUGIN_PORT: port.default(8081),
  PLUGIN_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters, of ASCII and without spaces')
    .optional(),
  PLUGIN_TLS_CERT: path.optional(),
  PLUGIN_TLS_KEY: path.optional(),
  PLUGIN_TLS_CLIENT_CA: path.optional(),
  PLUGIN_FAIL: z.enum(['open', 'closed']).default('closed'),
  PLUGIN_DRAIN_SECONDS: z
    .string()
    .regex(/^(?:1?\d|20)$/, 'must be 0 to 20 seconds')
    .transform(Number)
    .default(0),
  PLUGIN_BULK: onOff.default(true),
  PLUGIN_RECEIPTS: onOff.default(true),
  PLUGIN_REPORTS: onOff.default(true),
  PLUGIN_RECEIPT_URL: url(['http:', 'https:']).optional(),
  PLUGIN_RECEIPT_KEY: redisKey
    .refine((key) => key.includes('{uuid}') && key.includes('{hash}'), 'must contain {uuid} and {hash}')
    .optional(),
  PLUGIN_RECEIPT_DAYS: countOf('days', 5).default(90),
  PLUGIN_LABEL_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters, of ASCII and without spaces')
    .optional(),
  PLUGIN_ENDINGS: onOff.default(true),
  CONSERVER_REDIS_URL: url(['redis:', 'rediss:']).optional(),
  CONSERVER_STREAM: redisKey.default('vcon-evidence'),
  CONSERVER_TAP_LIST: redisKey.optional(),
  ARCHIVIST_URL: baseUrl.optional(),
  ARCHIVIST_CLIENT_ID: clientId.optional(),
  ARCHIVIST_CLIENT_SECRET: z.string().optional(),
  ARCHIVIST_TENANCIES: path.optional(),
};
const pluginSchema = z.object(pluginVariables);
type PluginEnvironment = z.output<typeof pluginSchema>;

/** Returns what is wrong with a combination of variables. */
export function findPluginContradiction(env: PluginEnvironment): string | undefined {
  if ((env.ARCHIVIST_CLIENT_ID === undefined) !== (env.ARCHIVIST_CLIENT_SECRET === undefined))
    return 'ARCHIVIST_CLIENT_ID: must be set together with ARCHIVIST_CLIENT_SECRET';
  if ((env.PLUGIN_TLS_CERT === undefined) !== (env.PLUGIN_TLS_KEY === undefined))
    return 'PLUGIN_TLS_CERT: must be set together with PLUGIN_TLS_KEY';
  if (env.PLUGIN_TLS_CLIENT_CA !== undefined && env.PLUGIN_TLS_CERT === undefined)
    return 'PLUGIN_TLS_CLIENT_CA: needs PLUGIN_TLS_CERT and PLUGIN_TLS_KEY';
  for (const name of ['CONSERVER_TAP_LIST', 'PLUGIN_RECEIPT_KEY'] as const)
    if (env[name] !== undefined && env.CONSERVER_REDIS_URL === undefined) return `${name}: needs CONSERVER_REDIS_URL`;
  return undefined;
}

function tlsOf(env: PluginEnvironment): PluginTls | undefined {
  const { PLUGIN_TLS_CERT: certFile, PLUGIN_TLS_KEY: keyFile, PLUGIN_TLS_CLIENT_CA: clientCaFile } = env;
  return certFile !== undefined && keyFile !== undefined ? { certFile, keyFile, clientCaFile } : undefined;
}

export function pluginConfig(env: PluginEnvironment & { readonly HOST: string }): PluginConfig {
  const guarded = env.PLUGIN_SECRET !== undefined || env.PLUGIN_TLS_CLIENT_CA !== undefined;
  return Object.freeze({
    host: guarded ? env.HOST : '127.0.0.1',
    port: env.PLUGIN_PORT,
    secret: env.PLUGIN_SECRET,
    tls: tlsOf(env),
    failOpen: env.PLUGIN_FAIL === 'open',
    drainSeconds: env.PLUGIN_DRAIN_SECONDS,
    bulk: env.PLUGIN_BULK,
    receipts: env.PLUGIN_RECEIPTS,
    reports: env.PLUGIN_REPORTS,
    receiptUrl: env.PLUGIN_RECEIPT_URL,
    receiptKey: env.PLUGIN_RECEIPT_KEY,
    receiptDays: env.PLUGIN_RECEIPT_DAYS,
    labelSecret: env.PLUGIN_LABEL_SECRET,
    conserverRedisUrl: env.CONSERVER_REDIS_URL,
    stream: env.CONSERVER_STREAM,
    tapList: env.CONSERVER_TAP_LIST,
    endings: env.PLUGIN_ENDINGS,
    archivistUrl: env.ARCHIVIST_URL,
    clientId: env.ARCHIVIST_CLIENT_ID,
    clientSecret: env.ARCHIVIST_CLIENT_SECRET,
    tenanciesFile: env.ARCHIVIST_TENANCIES,
  });
}
