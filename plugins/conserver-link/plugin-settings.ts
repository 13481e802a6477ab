/** What the plugin needs to know. */
export interface PluginSettings {
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
  if (!settings.secret && !LOOPBACK.test(settings.host))
    throw new PluginSettingsError(
      'without PLUGIN_SECRET the plugin listens on loopback only: set it, or leave HOST unset',
    );
  return { ...settings, archivistUrl: archivistBase(settings.archivistUrl) };
}
