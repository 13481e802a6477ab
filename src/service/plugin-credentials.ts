import type { Config } from './config/config.js';
import { readCredentials } from './first-credentials.js';

export interface PluginCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What they are found by. */
export type CredentialSettings = Pick<Config, 'bootstrapClientId' | 'bootstrapClientSecret' | 'dataDir'> & {
  readonly plugin: Pick<Config['plugin'], 'clientId' | 'clientSecret'>;
};

/**
 * Returns the credentials that a plugin inside the service delivers with: `ARCHIVIST_CLIENT_ID` and `_SECRET`, else
 * `BOOTSTRAP_CLIENT_ID` and `_SECRET`, else those that the first start wrote to `DATA_DIR`. Undefined if there are none.
 */
export async function pluginCredentials(config: CredentialSettings): Promise<PluginCredentials | undefined> {
  const { clientId, clientSecret } = config.plugin;
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  if (config.bootstrapClientId !== undefined && config.bootstrapClientSecret !== undefined) {
    return { clientId: config.bootstrapClientId, clientSecret: config.bootstrapClientSecret };
  }
  const first = await readCredentials(config.dataDir);
  return first && { clientId: first.client_id, clientSecret: first.client_secret };
}
