import { isIP, isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { countOf, origins, port } from '../../platform/config-values.js';
import type { ConnectionLimits } from '../../platform/http/open-connections.js';

/** Settings of the listeners. */
export interface HttpConfig {
  /** `HOST`, default 127.0.0.1: the address to listen on. */
  readonly host: string;
  /** `PORT`, default 8080; 0 takes any free port and requires `PUBLIC_URL`. */
  readonly port: number;
  /**
   * `TRUST_PROXY`, default none: trusted proxies, whose forwarding headers are used. A number of proxies, or addresses
   * and subnets in the syntax of Express, separated by commas (`loopback`, `10.0.0.0/8`).
   */
  readonly trustProxy: number | string | undefined;
  /**
   * `TLS_CERTIFICATE_FILE` and `TLS_KEY_FILE`, paths of PEM files: also listen with TLS, on `TLS_PORT` (default 8443).
   * There, clients can authenticate with certificates of their tenancy's authorities.
   */
  readonly tls: TlsConfig | undefined;
  /**
   * `CONNECTIONS`, default 4096, and `CONNECTIONS_PER_ADDRESS`, default 1024 and with `TRUST_PROXY` as many as
   * `CONNECTIONS`: maximum number of connections of each listener.
   */
  readonly connections: ConnectionLimits;
  /** `METRICS_PORT`, default none: `/metrics` is served on this port only, of `METRICS_HOST`, default `HOST`. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** `METRICS_TOKEN`, at least 16 characters, default none: `/metrics` requires it as a bearer token. */
  readonly metricsToken: string | undefined;
  /** `CORS_ORIGINS`, such as `https://app.example,https://desk.example`, default none: pages that may send tokens. */
  readonly corsOrigins: readonly string[];
  /** `RATE_LIMIT`, default none: requests per second of each tenancy; counted per process if `REDIS_URL` is unset. */
  readonly rateLimit: number | undefined;
  /**
   * `DOWNLOAD_BUDGET`, default 1073741824 (1 GiB): bytes of evidence bundles, massifs and seals for each caller per minute;
   * counted per process if `REDIS_URL` is unset.
   */
  readonly downloadBudget: number;
}

/** A TLS listener and its files. */
interface TlsConfig {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly port: number;
}

const count = countOf('connections', 6);

const PROXY_NAMES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/** An address, or an address with the length of a prefix or the mask of an IPv4 network, as Express takes them. */
function isProxy(text: string): boolean {
  const [address = '', range, ...more] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || more.length > 0) return PROXY_NAMES.includes(text);
  if (range === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(range) ? Number(range) <= bits : bits === 32 && isIPv4(range);
}

const proxies = z
  .string()
  .refine(
    (text) => /^\d{1,3}$/.test(text) || text.split(',').every((each) => isProxy(each.trim())),
    'must be a number of proxies, or addresses, subnets, loopback, linklocal or uniquelocal, separated by commas',
  )
  .transform((text) => (/^\d{1,3}$/.test(text) ? Number(text) : text));

/** The listeners' part of the environment. */
export const httpVariables = {
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  TRUST_PROXY: proxies.optional(),
  TLS_CERTIFICATE_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TLS_PORT: port.default(8443),
  CONNECTIONS: count.default(4096),
  CONNECTIONS_PER_ADDRESS: count.optional(),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  CORS_ORIGINS: origins.default([]),
  RATE_LIMIT: countOf('requests', 7).optional(),
  DOWNLOAD_BUDGET: countOf('bytes', 15).default(1024 * 1024 * 1024),
};

const schema = z.object(httpVariables);
type HttpEnvironment = z.output<typeof schema>;

const MOST_PER_ADDRESS = 1024;

/** Returns what is wrong with a combination of variables. */
export function findHttpContradiction(env: HttpEnvironment): string | undefined {
  if ((env.TLS_CERTIFICATE_FILE === undefined) !== (env.TLS_KEY_FILE === undefined))
    return 'TLS_CERTIFICATE_FILE: must be set together with TLS_KEY_FILE';
  return undefined;
}

export function httpConfig(env: HttpEnvironment): HttpConfig {
  const total = env.CONNECTIONS;
  // All callers behind a proxy have the proxy's address.
  const most = env.TRUST_PROXY === undefined ? MOST_PER_ADDRESS : total;
  return Object.freeze({
    host: env.HOST,
    port: env.PORT,
    trustProxy: env.TRUST_PROXY,
    tls: tlsListener(env),
    connections: { total, perAddress: Math.min(total, env.CONNECTIONS_PER_ADDRESS ?? most) },
    metrics:
      env.METRICS_PORT === undefined ? undefined : { host: env.METRICS_HOST ?? env.HOST, port: env.METRICS_PORT },
    metricsToken: env.METRICS_TOKEN,
    corsOrigins: env.CORS_ORIGINS,
    rateLimit: env.RATE_LIMIT,
    downloadBudget: env.DOWNLOAD_BUDGET,
  });
}

/** The TLS listener; undefined if there is none. */
function tlsListener(env: HttpEnvironment): TlsConfig | undefined {
  const { TLS_CERTIFICATE_FILE: certificateFile, TLS_KEY_FILE: keyFile, TLS_PORT: tlsPort } = env;
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  return { certificateFile: resolve(certificateFile), keyFile: resolve(keyFile), port: tlsPort };
}
