import type { Config } from './config/config.js';
import { readCredentials } from './first-credentials.js';

export interface PluginCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What they are found by. */
export type CredentialSettings = Pick<Config, 'bootstrap' | 'dataDir'> & {
  readonly plugin: Pick<Config['plugin'], 'clientId' | 'clientSecret'>;
};

/**
 * Returns the credentials that a plugin inside the service delivers with: `ARCHIVIST_CLIENT_ID` and `_SECRET`, else
 * `BOOTSTRAP_CLIENT_ID` and `_SECRET`, else those that the first start wrote to `DATA_DIR`. Undefined if there are none.
 */
export async function pluginCredentials(config: CredentialSettings): Promise<PluginCredentials | undefined> {
  for (const { clientId, clientSecret } of [config.plugin, config.bootstrap])
    if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  const first = await readCredentials(config.dataDir);
  return first && { clientId: first.client_id, clientSecret: first.client_secret };
}
