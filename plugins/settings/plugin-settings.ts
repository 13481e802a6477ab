import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { PluginConfig } from '../../src/platform/plugin-config.js';

/** What is configured with a default; left out, it is off. */
type Optional = Pick<
  PluginConfig,
  | 'tls'
  | 'failOpen'
  | 'drainSeconds'
  | 'bulk'
  | 'receipts'
  | 'receiptUrl'
  | 'receiptKey'
  | 'receiptDays'
  | 'labelSecret'
  | 'conserverRedisUrl'
  | 'stream'
  | 'tapList'
  | 'endings'
  | 'tenanciesFile'
>;

/** What the plugin needs to know. */
export interface PluginSettings extends Partial<Optional> {
  /** Base of the service, bare or ending in `/archivist`. */
  readonly archivistUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** What the conserver sends as a bearer token. Without one the plugin listens on loopback only. */
  readonly secret?: string | undefined;
}

/** The settings do not make a plugin; the message names the variable to change, never its value. */
export class PluginSettingsError extends Error {
  override readonly name = 'PluginSettingsError';
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/** The service's base URL without a slash or `/archivist` at its end. @throws {PluginSettingsError} */
export function archivistBase(url: string): string {
  if (!/^https?:\/\/[^/?#]/.test(url) || !URL.canParse(url) || /[?#]/.test(url))
    throw new PluginSettingsError('ARCHIVIST_URL must be an http(s) URL without a query');
  return url.replace(/\/+$/, '').replace(/\/archivist$/, '');
}

/**
 * Settings that can be used as they are.
 * @throws {PluginSettingsError} on a missing credential, a URL that is none, or an open address without a secret
 */
export function checkPluginSettings(settings: PluginSettings): PluginSettings {
  if (settings.clientId === '' || settings.clientSecret === '')
    throw new PluginSettingsError('ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET must be set');
  if (!settings.secret && !settings.tls?.clientCaFile && !LOOPBACK.test(settings.host))
    throw new PluginSettingsError(
      'without PLUGIN_SECRET the plugin listens on loopback only: set it, or leave HOST unset',
    );
  return { ...settings, archivistUrl: archivistBase(settings.archivistUrl) };
}

/** An application of the service. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Key of the hashes that are recorded in place of labels; the client secret when left out. */
  readonly labelSecret?: string | undefined;
}

const tenanciesSchema = z.record(
  z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/),
  z.object({
    client_id: z.string().min(1),
    client_secret: z.string().min(1),
    label_secret: z.string().min(16).optional(),
  }),
);

/** The credentials of each tenancy by its label. @throws {PluginSettingsError} */
export async function readTenancies(file: string | undefined): Promise<ReadonlyMap<string, ClientCredentials>> {
  if (file === undefined) return new Map();
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch {
    throw new PluginSettingsError('ARCHIVIST_TENANCIES must name a JSON file that can be read');
  }
  const parsed = tenanciesSchema.safeParse(value);
  if (!parsed.success)
    throw new PluginSettingsError('ARCHIVIST_TENANCIES must hold {"<tenancy>": {"client_id", "client_secret"}}');
  return new Map(
    Object.entries(parsed.data).map(([tenancy, { client_id, client_secret, label_secret }]) => [
      tenancy,
      { clientId: client_id, clientSecret: client_secret, labelSecret: label_secret },
    ]),
  );
}
