import { isIP, isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { countOf, port } from '../../platform/config-values.js';
import type { ConnectionLimits } from '../../platform/http/open-connections.js';

/** Settings of the listeners beside their address. */
export interface HttpConfig {
  /**
   * `CONNECTIONS`, default 4096, and `CONNECTIONS_PER_ADDRESS`, default 1024 and with `TRUST_PROXY` as many as
   * `CONNECTIONS`: maximum number of connections of each listener.
   */
  readonly connections: ConnectionLimits;
  /** `METRICS_PORT`, default none: `/metrics` is served on this port only, of `METRICS_HOST`, default `HOST`. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** `METRICS_TOKEN`, at least 16 characters, default none: `/metrics` requires it as a bearer token. */
  readonly metricsToken: string | undefined;
}

/** A TLS listener and its files. */
export interface TlsConfig {
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
  TRUST_PROXY: proxies.optional(),
  TLS_CERTIFICATE_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TLS_PORT: port.default(8443),
  CONNECTIONS: count.default(4096),
  CONNECTIONS_PER_ADDRESS: count.optional(),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
};

const schema = z.object(httpVariables);
type HttpEnvironment = z.output<typeof schema>;

const MOST_PER_ADDRESS = 1024;

/** @param env the environment with `HOST` */
export function httpConfig(env: HttpEnvironment & { readonly HOST: string }): HttpConfig {
  const total = env.CONNECTIONS;
  // All callers behind a proxy have the proxy's address.
  const most = env.TRUST_PROXY === undefined ? MOST_PER_ADDRESS : total;
  return Object.freeze({
    connections: { total, perAddress: Math.min(total, env.CONNECTIONS_PER_ADDRESS ?? most) },
    metrics:
      env.METRICS_PORT === undefined ? undefined : { host: env.METRICS_HOST ?? env.HOST, port: env.METRICS_PORT },
    metricsToken: env.METRICS_TOKEN,
  });
}

/** The TLS listener; undefined if there is none. */
export function tlsListener(env: HttpEnvironment): TlsConfig | undefined {
  const { TLS_CERTIFICATE_FILE: certificateFile, TLS_KEY_FILE: keyFile, TLS_PORT: tlsPort } = env;
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  return { certificateFile: resolve(certificateFile), keyFile: resolve(keyFile), port: tlsPort };
}
