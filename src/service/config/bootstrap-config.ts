import { z } from 'zod';
import { clientId } from '../../platform/config-values.js';

/** Credentials of the applications that the first start creates; a later start makes none. */
export interface BootstrapConfig {
  /** `BOOTSTRAP_CLIENT_ID`, a UUID: id of the first Owner application; random if unset. */
  readonly clientId: string | undefined;
  /** `BOOTSTRAP_CLIENT_SECRET`, at least 32 characters: its secret; random if unset. */
  readonly clientSecret: string | undefined;
  /**
   * `BOOTSTRAP_PLUGIN_CLIENT_ID` and `BOOTSTRAP_PLUGIN_CLIENT_SECRET`: the first start also creates this application,
   * without roles, for a conserver plugin that runs as its own process.
   */
  readonly plugin: { readonly clientId: string; readonly clientSecret: string } | undefined;
}

const secret = z.string().min(32, 'must have at least 32 characters').optional();

/** The first start's part of the environment. */
export const bootstrapVariables = {
  BOOTSTRAP_CLIENT_ID: clientId.optional(),
  BOOTSTRAP_CLIENT_SECRET: secret,
  BOOTSTRAP_PLUGIN_CLIENT_ID: clientId.optional(),
  BOOTSTRAP_PLUGIN_CLIENT_SECRET: secret,
};

const schema = z.object(bootstrapVariables);
type BootstrapEnvironment = z.output<typeof schema>;

/** Returns what is wrong with a combination of variables. */
export function findBootstrapContradiction(env: BootstrapEnvironment): string | undefined {
  if ((env.BOOTSTRAP_PLUGIN_CLIENT_ID === undefined) !== (env.BOOTSTRAP_PLUGIN_CLIENT_SECRET === undefined))
    return 'BOOTSTRAP_PLUGIN_CLIENT_ID: must be set together with BOOTSTRAP_PLUGIN_CLIENT_SECRET';
  return undefined;
}

export function bootstrapConfig(env: BootstrapEnvironment): BootstrapConfig {
  const { BOOTSTRAP_PLUGIN_CLIENT_ID: pluginId, BOOTSTRAP_PLUGIN_CLIENT_SECRET: pluginSecret } = env;
  return Object.freeze({
    clientId: env.BOOTSTRAP_CLIENT_ID,
    clientSecret: env.BOOTSTRAP_CLIENT_SECRET,
    plugin:
      pluginId === undefined || pluginSecret === undefined
        ? undefined
        : { clientId: pluginId, clientSecret: pluginSecret },
  });
}
