import type { ManifestKey } from '../../core/keys/key-manifest.js';
import { namedKey } from '../../core/keys/manifest-key.js';
import { readKeyManifest } from '../../core/keys/read-key-manifest.js';
import { signKeyManifest } from '../../core/keys/sign-key-manifest.js';
import { enterKeyManifest } from '../../ledger/keys-log/enter-key-manifest.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { CertifyTenancyKey } from '../../platform/keys/create-keys.js';
import type { KeyStore } from '../../platform/keys/key-store.js';
import { listKeyManifests } from '../../platform/keys/manifest/key-manifest-store.js';
import { manifestIsMissing } from '../../platform/keys/manifest/key-manifests.js';
import type { ManifestFile } from '../../platform/keys/manifest/manifest-file.js';
import { isManifestRole } from '../../platform/keys/manifest/manifest-rows.js';
import { listSigningKeys, type SigningKeyRow } from '../../platform/keys/signing-key-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type Deployment, keysLog } from '../deployment.js';
import { manifestLogs } from './manifest-logs.js';
import { certifyRow, tenancyKeys } from './recertify-tenancy-keys.js';
import { createRootKey, openRootKey } from './root-key.js';

interface FirstManifestDeps {
  readonly ids: Ids;
  readonly keys: KeyStore;
  readonly file: ManifestFile;
  /** The DID of the service. */
  readonly issuer: string;
  readonly clock: Clock;
  readonly certify: CertifyTenancyKey;
}

/**
 * Makes the first manifest of a deployment that has none: a new deployment, or one made by an earlier version. It lists
 * the keys in the database with their intervals. Resolves with undefined when a manifest exists.
 * @param fresh whether the deployment is made in this transaction
 * @throws {Error} with a readable message when the manifest is missing from `KEYS_DIR`, or belongs to another
 *   deployment
 */
export async function makeFirstManifest(
  tx: Tx,
  deployment: Deployment,
  deps: FirstManifestDeps,
  fresh: boolean,
): Promise<Uint8Array | undefined> {
  const { deploymentTenancy } = deployment;
  if ((await deps.file.read()) !== undefined) return undefined;
  const [stored] = (await listKeyManifests(tx, deploymentTenancy, 1n)).slice(-1);
  if (stored) return recovered(stored.manifest, deps);
  if (!fresh && (await deps.file.ofAnother()))
    throw new Error(
      `KEYS_DIR has the key manifest of another deployment, and not ${deps.file.path}: check KEYS_DIR and DATABASE_URL`,
    );
  const issuedAtMs = deps.clock.now();
  const root = await createRootKey(deps.keys);
  const signer = await openRootKey(deps.keys, root);
  if (!signer) throw new Error('the root key was made and cannot be used');
  const logs = await manifestLogs(tx, deployment);
  const rows = await listSigningKeys(tx, deploymentTenancy);
  const manifest = await signKeyManifest(
    {
      number: 1,
      issuedAtMs,
      firstIssuedAtMs: issuedAtMs,
      previous: undefined,
      root,
      keys: rows.filter(({ role }) => isManifestRole(role)).map(listed),
      logs,
      issuer: deps.issuer,
      subject: logs.find(({ kind }) => kind === 'keys')!.name,
    },
    signer,
  );
  await enterKeyManifest(tx, keysLog(deployment), { number: 1n, entryId: deps.ids.uuid(), manifest });
  await certifyEarlierKeys(tx, deps.certify);
  return manifest;
}

function listed(row: SigningKeyRow): ManifestKey {
  return {
    role: row.role,
    ...namedKey(row.publicJwk),
    state: row.state,
    validFromMs: row.validFrom.getTime(),
    ...(row.validUntil === null ? {} : { validUntilMs: row.validUntil.getTime() }),
    since: 1,
  };
}

/**
 * A crash after the transaction and before the manifest is written to `KEYS_DIR` leaves it only in the database. It is
 * accepted if its root key is in this key store, because only this key store can have signed with it.
 */
async function recovered(manifest: Uint8Array, { keys, file }: FirstManifestDeps): Promise<Uint8Array> {
  const { signer } = readKeyManifest(manifest);
  if (await openRootKey(keys, signer)) return manifest;
  throw manifestIsMissing(file.path);
}

/** Certifies the tenancy keys that an earlier version made. */
async function certifyEarlierKeys(tx: Tx, certify: CertifyTenancyKey): Promise<void> {
  for await (const row of tenancyKeys(tx)) if (!row.certificate) await certifyRow(tx, row, certify);
}
