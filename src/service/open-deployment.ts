import { type BootstrapDeps, bootstrapDeployment, type FirstOwner } from '../archivist/bootstrap-deployment.js';
import { beginChain } from '../archivist/chain/begin-chain.js';
import type { Deployment } from '../archivist/deployment.js';
import { findDeployment } from '../archivist/deployment-store.js';
import { makeFirstManifest } from '../archivist/keys/first-manifest.js';
import { publicJwk } from '../core/cose/public-key.js';
import type { Signer } from '../core/cose/signature.js';
import { certifyTenancyKey } from '../core/keys/tenancy-key-certificate.js';
import { serviceDid } from '../core/statement/issuer-did.js';
import type { Clock } from '../platform/clock.js';
import type { Ids } from '../platform/ids.js';
import { type CertifyTenancyKey, createDeploymentKeys, createTenancyKeys } from '../platform/keys/create-keys.js';
import { evidenceSigner } from '../platform/keys/evidence-signer.js';
import { PEPPER_ROLE } from '../platform/keys/key-role.js';
import type { KeyStore } from '../platform/keys/key-store.js';
import { type KeyManifests, openKeyManifests } from '../platform/keys/manifest/key-manifests.js';
import { manifestFile } from '../platform/keys/manifest/manifest-file.js';
import { manifestRows } from '../platform/keys/manifest/manifest-rows.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import { type OpenKeyring, openKeyring } from '../platform/keys/open-keyring.js';
import { secretFiles } from '../platform/keys/secret-files.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { Database, Tx } from '../platform/postgres/database.js';
import type { Config } from './config/config.js';
import { writeCredentials } from './first-credentials.js';

/** An open deployment: its fixed identifiers and its keys. */
export interface OpenDeployment {
  readonly deployment: Deployment;
  readonly keyring: OpenKeyring;
  readonly keys: KeyStore;
  readonly manifests: KeyManifests;
  /** Certifies keys of tenancies with the active issuer key. */
  readonly certify: CertifyTenancyKey;
  readonly createTenancyKeys: BootstrapDeps['createTenancyKeys'];
  /** Present only at the start that created the deployment. */
  readonly firstOwner?: FirstOwner;
}

type DeploymentSettings = Pick<Config, 'publicUrl' | 'dataDir' | 'keysDir' | 'massifHeight' | 'bootstrap'>;

interface DeploymentParts {
  readonly config: DeploymentSettings;
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: KeyStore;
  readonly objectStore: ObjectStore;
}

/**
 * Opens the deployment of a database; the first start creates it. The first Owner's credentials are on disk before they
 * are in the database; after a crash between the two, the next start replaces the file. Keys are those of the newest
 * key manifest.
 */
export async function openDeployment(parts: DeploymentParts): Promise<OpenDeployment> {
  const { config, database, clock, ids, keys, objectStore } = parts;
  const files = secretFiles(config.keysDir);
  const randomBytes = (count: number) => ids.randomBytes(count);
  const secrets = {
    pepper: await files.secret('token-pepper', randomBytes),
    pageTokenKey: await files.secret('page-token-key', randomBytes),
  };
  let opened: OpenKeyring | undefined;
  const certifyIn =
    (tx: Tx): CertifyTenancyKey =>
    async (key) =>
      certifyTenancyKey(key, serviceDid(config.publicUrl), opened?.signer('issuer') ?? (await storedIssuer(tx, keys)));
  const now = () => new Date(clock.now());
  const deps: BootstrapDeps = {
    clock,
    ids,
    pepper: secrets.pepper,
    massifHeight: config.massifHeight,
    createDeploymentKeys: (tx, tenantId) => createDeploymentKeys(tx, keys, files, tenantId, now()),
    createTenancyKeys: (tx, tenantId) => createTenancyKeys(tx, keys, tenantId, now(), certifyIn(tx)),
    ...config.bootstrap,
  };
  const made = await database.inTransaction('system', async (tx) => {
    const { deployment, firstOwner } = await bootstrapDeployment(tx, deps);
    const first = await firstManifest(tx, parts, deployment, {
      certify: certifyIn(tx),
      fresh: firstOwner !== undefined,
    });
    if (firstOwner && !config.bootstrap.clientSecret) await leaveCredentials(config, firstOwner);
    return { deployment, firstOwner, first, rows: await listSigningKeys(tx, deployment.deploymentTenancy) };
  });
  const { deployment, firstOwner } = made;
  const { deploymentTenancy } = deployment;
  const file = manifestFile(config.keysDir, deploymentTenancy);
  const manifestDeps = { database, objectStore, file, verifySignature: nodeVerify, deploymentTenancy };
  const manifests = await openKeyManifests(manifestDeps, made.first);
  const listed = manifestRows(manifests.current.manifest);
  opened = await openKeyring([...listed, ...made.rows.filter(({ role }) => role === PEPPER_ROLE)], keys, secrets);
  await beginChain({ database, deployment, key: opened.chain, clock });
  const keyring = opened;
  return {
    deployment,
    keyring,
    keys,
    manifests,
    certify: (key) => certifyTenancyKey(key, serviceDid(config.publicUrl), keyring.signer('issuer')),
    createTenancyKeys: deps.createTenancyKeys,
    ...(firstOwner ? { firstOwner } : {}),
  };
}

function firstManifest(
  tx: Tx,
  { config, ids, keys, clock }: DeploymentParts,
  deployment: Deployment,
  { certify, fresh }: { readonly certify: CertifyTenancyKey; readonly fresh: boolean },
): Promise<Uint8Array | undefined> {
  const file = manifestFile(config.keysDir, deployment.deploymentTenancy);
  const issuer = serviceDid(config.publicUrl);
  return makeFirstManifest(tx, deployment, { ids, keys, file, issuer, clock, certify }, fresh);
}

/** The issuer key from the database: only used before the first manifest, which is made from these rows. */
async function storedIssuer(tx: Tx, keys: KeyStore): Promise<Signer> {
  const { deploymentTenancy } = (await findDeployment(tx))!;
  const rows = await listSigningKeys(tx, deploymentTenancy);
  const row = rows.find(({ role, state }) => role === 'issuer' && state === 'active');
  const key = row && (await keys.open({ ...row, role: 'issuer' }));
  if (!key)
    throw new Error('the private half of the issuer key is missing: restore KEYS_DIR or the module of KEY_PROVIDER');
  return evidenceSigner(publicJwk(row.publicJwk), key);
}

function leaveCredentials(config: DeploymentSettings, owner: FirstOwner): Promise<void> {
  return writeCredentials(config.dataDir, {
    client_id: owner.clientId,
    client_secret: owner.clientSecret,
    token_endpoint: `${config.publicUrl}/archivist/iam/v1/appidp/token`,
    tenant_identity: `tenant/${owner.tenantId}`,
  });
}
