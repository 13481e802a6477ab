import { join, resolve } from 'node:path';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);

/** The environment, variable by variable: this is the manual. A name that is set to nothing counts as unset. */
const ENVIRONMENT = z.object({
  /** Which part of the program runs: everything in one process, or one part beside others on the same PostgreSQL. */
  ROLE: z.enum(['all', 'api', 'ledger', 'worker']).default('all'),
  /** Where embedded state and the first credentials live. */
  DATA_DIR: z.string().default('./data'),
  /** Folder of private keys, shared by all nodes; DATA_DIR/keys when unset. */
  KEYS_DIR: z.string().optional(),
  /** A PostgreSQL; the embedded one in DATA_DIR when unset. */
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin postgres://')
    .optional(),
  /** A Redis for the queues; PostgreSQL keeps them when unset. */
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must begin redis://')
    .optional(),
  /** Folder of massifs and seals as file:///…; DATA_DIR/objects when unset. */
  OBJECT_STORE_URL: z
    .string()
    .regex(/^file:\/\/\//, 'must begin file:///; other stores are not there yet')
    .optional(),
  /** Base of every URL, issuer and audience that we print, without a slash at its end. */
  PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^/?#]+(\/[^?#]*[^/?#])?$/, 'must be an http(s) URL without a slash at its end')
    .optional(),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  /** Whose X-Forwarded-For we believe: addresses, networks or `loopback`, separated by commas. Nobody's when unset. */
  TRUST_PROXY: z.string().optional(),
  /** Credentials of the first Owner application, used at the first start only; made when unset. */
  BOOTSTRAP_CLIENT_ID: z.uuid('must be a UUID').optional(),
  BOOTSTRAP_CLIENT_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Where the conserver plugin listens; 0 runs none inside the service. */
  PLUGIN_PORT: port.default(8081),
  /** Bearer token that the conserver sends. Without one the plugin listens on loopback only. */
  PLUGIN_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Where the plugin delivers to; this service when unset. */
  ARCHIVIST_URL: z.url().optional(),
  ARCHIVIST_CLIENT_ID: z.string().optional(),
  ARCHIVIST_CLIENT_SECRET: z.string().optional(),
  /** Massif height of new logs: 14 gives 8,192 leaves a massif. */
  MASSIF_HEIGHT: z.coerce.number().int().min(2).max(20).default(14),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('warn'),
  /** Kills the process at a named step of the write path; for the fault tests. */
  ARCHIVIST_FAILPOINT: z.string().optional(),
});

export interface Config {
  readonly role: 'all' | 'api' | 'ledger' | 'worker';
  readonly dataDir: string;
  readonly keysDir: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly objectStoreDir: string;
  readonly publicUrl: string;
  readonly host: string;
  readonly port: number;
  readonly trustProxy: string | undefined;
  readonly bootstrap: { readonly clientId: string | undefined; readonly clientSecret: string | undefined };
  readonly plugin: {
    readonly port: number;
    readonly secret: string | undefined;
    readonly archivistUrl: string | undefined;
    readonly clientId: string | undefined;
    readonly clientSecret: string | undefined;
  };
  readonly massifHeight: number;
  readonly logLevel: string;
  readonly failpoint: string | undefined;
}

/** The environment asks for something that cannot be: the message names each variable and what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** @throws {ConfigError} naming every variable that is wrong */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = ENVIRONMENT.safeParse(set);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
  }
  const env = parsed.data;
  if (env.ROLE !== 'all' && !env.DATABASE_URL) {
    throw new ConfigError(`ROLE=${env.ROLE} needs DATABASE_URL: the embedded database serves one process only`);
  }
  const dataDir = resolve(env.DATA_DIR);
  return Object.freeze({
    role: env.ROLE,
    dataDir,
    keysDir: env.KEYS_DIR ? resolve(env.KEYS_DIR) : join(dataDir, 'keys'),
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    objectStoreDir: env.OBJECT_STORE_URL
      ? decodeURIComponent(new URL(env.OBJECT_STORE_URL).pathname)
      : join(dataDir, 'objects'),
    publicUrl: env.PUBLIC_URL ?? `http://127.0.0.1:${env.PORT}`,
    host: env.HOST,
    port: env.PORT,
    trustProxy: env.TRUST_PROXY,
    bootstrap: Object.freeze({ clientId: env.BOOTSTRAP_CLIENT_ID, clientSecret: env.BOOTSTRAP_CLIENT_SECRET }),
    plugin: Object.freeze({
      port: env.PLUGIN_PORT,
      secret: env.PLUGIN_SECRET,
      archivistUrl: env.ARCHIVIST_URL,
      clientId: env.ARCHIVIST_CLIENT_ID,
      clientSecret: env.ARCHIVIST_CLIENT_SECRET,
    }),
    massifHeight: env.MASSIF_HEIGHT,
    logLevel: env.LOG_LEVEL,
    failpoint: env.ARCHIVIST_FAILPOINT,
  });
}
