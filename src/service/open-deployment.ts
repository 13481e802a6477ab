import { type BootstrapDeps, bootstrapDeployment, type FirstOwner } from '../archivist/bootstrap-deployment.js';
import { beginChain } from '../archivist/chain/begin-chain.js';
import type { Deployment } from '../archivist/deployment.js';
import type { Clock } from '../platform/clock.js';
import type { Config } from '../platform/config.js';
import type { Ids } from '../platform/ids.js';
import { createDeploymentKeys, createTenancyKeys } from '../platform/keys/create-keys.js';
import type { KeyStore } from '../platform/keys/key-store.js';
import { type OpenKeyring, openKeyring } from '../platform/keys/open-keyring.js';
import { secretFiles } from '../platform/keys/secret-files.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { Database } from '../platform/postgres/database.js';
import { writeCredentials } from './first-credentials.js';

/** A deployment ready for use: its fixed points and its keys. */
export interface OpenDeployment {
  readonly deployment: Deployment;
  readonly keyring: OpenKeyring;
  readonly keys: KeyStore;
  readonly createTenancyKeys: BootstrapDeps['createTenancyKeys'];
  /** Only at the start that made the deployment. */
  readonly firstOwner?: FirstOwner;
}

/**
 * Opens the deployment of a database, making it at the first start. The first Owner's credentials are on disk before the
 * database knows them: a crash between leaves a file that the next start replaces.
 */
export async function openDeployment(parts: {
  config: Config;
  database: Database;
  clock: Clock;
  ids: Ids;
  keys: KeyStore;
}): Promise<OpenDeployment> {
  const { config, database, clock, ids, keys } = parts;
  const files = secretFiles(config.keysDir);
  const randomBytes = (count: number) => ids.randomBytes(count);
  const secrets = {
    pepper: await files.secret('token-pepper', randomBytes),
    pageTokenKey: await files.secret('page-token-key', randomBytes),
  };
  const deps: BootstrapDeps = {
    clock,
    ids,
    pepper: secrets.pepper,
    massifHeight: config.massifHeight,
    createDeploymentKeys: (tx, tenantId) => createDeploymentKeys(tx, keys, files, tenantId, new Date(clock.now())),
    createTenancyKeys: (tx, tenantId) => createTenancyKeys(tx, keys, tenantId, new Date(clock.now())),
    clientId: config.bootstrapClientId,
    clientSecret: config.bootstrapClientSecret,
    plugin: config.bootstrapPlugin,
  };
  const { deployment, firstOwner, rows } = await database.inTransaction('system', async (tx) => {
    const made = await bootstrapDeployment(tx, deps);
    if (made.firstOwner && !config.bootstrapClientSecret) await leaveCredentials(config, made.firstOwner);
    return { ...made, rows: await listSigningKeys(tx, made.deployment.deploymentTenancy) };
  });
  const keyring = await openKeyring(rows, keys, secrets);
  await beginChain({ database, deployment, key: keyring.chain, clock });
  return {
    deployment,
    keyring,
    keys,
    createTenancyKeys: deps.createTenancyKeys,
    ...(firstOwner ? { firstOwner } : {}),
  };
}

function leaveCredentials(config: Config, owner: FirstOwner): Promise<void> {
  return writeCredentials(config.dataDir, {
    client_id: owner.clientId,
    client_secret: owner.clientSecret,
    token_endpoint: `${config.publicUrl}/archivist/iam/v1/appidp/token`,
    tenant_identity: `tenant/${owner.tenantId}`,
  });
}
