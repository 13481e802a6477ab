import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { PluginConfig } from './plugin-config.js';

/** Settings with a default; off if left out. */
type Optional = Pick<
  PluginConfig,
  | 'tls'
  | 'failOpen'
  | 'drainSeconds'
  | 'bulk'
  | 'receipts'
  | 'reports'
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

/** The plugin's configuration. */
export interface PluginSettings extends Partial<Optional> {
  /** Base of the service, bare or ending in `/archivist`. */
  readonly archivistUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** The bearer token that the conserver sends. Without one the plugin listens only on loopback. */
  readonly secret?: string | undefined;
}

/** The settings are invalid; the message names the variable to change, never its value. */
export class PluginSettingsError extends Error {
  override readonly name = 'PluginSettingsError';
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/** The service's base URL without a trailing slash or `/archivist`. @throws {PluginSettingsError} */
export function archivistBase(url: string): string {
  if (!/^https?:\/\/[^/?#]/.test(url) || !URL.canParse(url) || /[?#]/.test(url))
    throw new PluginSettingsError('ARCHIVIST_URL must be an http(s) URL without a query');
  return url.replace(/\/+$/, '').replace(/\/archivist$/, '');
}

/**
 * Validates settings.
 * @throws {PluginSettingsError} on a missing credential, an invalid URL, or a public address without a secret
 */
export function checkPluginSettings(settings: PluginSettings): PluginSettings {
  if (settings.clientId === '' || settings.clientSecret === '')
    throw new PluginSettingsError('ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET must be set');
  if (!settings.secret && !settings.tls?.clientCaFile && !LOOPBACK.test(settings.host))
    throw new PluginSettingsError(
      'without PLUGIN_SECRET the plugin listens only on loopback: set it, or leave HOST unset',
    );
  return { ...settings, archivistUrl: archivistBase(settings.archivistUrl) };
}

/** An application of the service. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Key of the hashes that replace labels; by default the client secret. */
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
