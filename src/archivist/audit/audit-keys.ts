import { equalBytes } from '../../core/bytes.js';
import type { VerifySignature } from '../../core/cose/signature.js';
import { VerificationError } from '../../core/errors.js';
import { namedKey } from '../../core/keys/manifest-key.js';
import { readKeyManifest } from '../../core/keys/read-key-manifest.js';
import { verifyTenancyKey } from '../../core/keys/tenancy-key-certificate.js';
import {
  manifestJwks,
  type TrustedKeyManifest,
  verifyKeptKeyManifest,
  verifyKeyManifests,
  verifyNextKeyManifest,
} from '../../core/keys/verify-key-manifests.js';
import { DEPLOYMENT_ROLES, PEPPER_ROLE, TENANCY_ROLES } from '../../platform/keys/key-role.js';
import { keptManifest, manifestDamage, manifestObjectKey } from '../../platform/keys/manifest/manifest-objects.js';
import { manifestRowFaults } from '../../platform/keys/manifest/manifest-rows.js';
import { listSigningKeys, type TenancyKeyRow } from '../../platform/keys/signing-key-store.js';
import { jwkAddress } from '../../platform/keys/wallet-address.js';
import { keysLog } from '../deployment.js';
import { tenancyKeys } from '../keys/recertify-tenancy-keys.js';
import type { DeploymentAudit } from './deployment-audit.js';
import {
  type ManifestAuditRow,
  manifestAuditRows,
  strangeKeyRows,
  strayManifests,
  walletRows,
} from './keys-audit-store.js';

const NAME = 'keys';

/** What an auditor knows about the root key from outside the database. */
export interface KnownRoot {
  /** Thumbprint of the root key, 32 bytes. */
  readonly thumbprint?: Uint8Array | undefined;
  /** The newest manifest that `KEYS_DIR` holds. */
  readonly remembered?: Uint8Array | undefined;
}

interface KeysAudit extends DeploymentAudit {
  readonly verifySignature: VerifySignature;
  readonly root?: KnownRoot;
}

/**
 * Checks the keys of a deployment. If a key manifest is made meanwhile, they are checked again: rows and files that were
 * read before it and after it contradict each other.
 */
export async function auditKeys(audit: KeysAudit): Promise<TrustedKeyManifest | undefined> {
  const log = keysLog(audit.deployment);
  const rowsNow = () => audit.database.inTransaction('system', (tx) => manifestAuditRows(tx, log));
  for (let rows = await rowsNow(); ; ) {
    const faults: string[] = [];
    const newest = await auditManifests(audit, rows, (what) => void faults.push(what));
    const later = await rowsNow();
    if (later.length <= rows.length) {
      for (const what of faults) audit.fault(NAME, what);
      return newest;
    }
    rows = later;
  }
}

/**
 * Checks these manifests, and the keys against them:
 * - the manifests follow each other from the first one, each is signed by the root key of its time, and each is an
 *   entry of the keys log at its place, also in the object store;
 * - every row of a key agrees with the newest manifest;
 * - every key of a tenancy has its certificate.
 * Resolves with the newest valid manifest.
 */
async function auditManifests(
  audit: KeysAudit,
  rows: readonly ManifestAuditRow[],
  fault: (what: string) => void,
): Promise<TrustedKeyManifest | undefined> {
  const { database, deployment } = audit;
  const log = keysLog(deployment);
  const stray = await database.inTransaction('system', (tx) => strayManifests(tx, log));
  if (stray.entries > 0n) fault(`${stray.entries} entries of the keys log are not among the stored key manifests`);
  if (stray.manifests > 0n) fault(`${stray.manifests} key manifests belong to no deployment`);
  const newest = await newestManifest(audit, rows, fault);
  if (!newest) return undefined;
  if (newest.manifest.subject !== `log/${log.logId}`)
    fault(`the key manifests name the keys log ${newest.manifest.subject}, the deployment names log/${log.logId}`);
  await auditRoot(audit, rows, newest, fault);
  for (const row of rows) await auditPlace(audit, newest, row, fault);
  await auditKeyRows(audit, newest, fault);
  await auditTenancyKeys(audit, newest, fault);
  return newest;
}

async function newestManifest(
  audit: KeysAudit,
  rows: readonly ManifestAuditRow[],
  fault: (what: string) => void,
): Promise<TrustedKeyManifest | undefined> {
  let newest: TrustedKeyManifest | undefined;
  for (const row of rows) {
    try {
      const next: TrustedKeyManifest = newest
        ? await verifyNextKeyManifest(newest, row.manifest, audit.verifySignature)
        : await verifyKeptKeyManifest(row.manifest, audit.verifySignature);
      if (BigInt(next.manifest.number) !== row.number)
        fault(`key manifest ${next.manifest.number} is stored as ${row.number}`);
      newest = next;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      fault(`key manifest ${row.number}: ${error.message}`);
      return newest;
    }
  }
  if (!newest) fault('the database has no key manifest');
  else if (rows[0]!.number !== 1n)
    fault(`the first stored key manifest is ${rows[0]!.number}: the earlier ones are missing`);
  return newest;
}

async function auditRoot(
  { root = {}, verifySignature }: KeysAudit,
  rows: readonly ManifestAuditRow[],
  newest: TrustedKeyManifest,
  fault: (what: string) => void,
): Promise<void> {
  const { thumbprint, remembered } = root;
  const { number } = newest.manifest;
  if (thumbprint) {
    const read = rows.filter((row) => row.number <= BigInt(number)).map((row) => readKeyManifest(row.manifest));
    await verifyKeyManifests(read, thumbprint, verifySignature).catch((error: Error) => fault(error.message));
  }
  if (!remembered) return;
  const kept = readKeyManifest(remembered);
  const row = rows.find((each) => each.number === BigInt(kept.manifest.number));
  if (!row)
    fault(
      `key manifest ${kept.manifest.number} of KEYS_DIR is not in the database: the database was rolled back to an older state`,
    );
  else if (!equalBytes(row.manifest, kept.bytes))
    fault(`key manifest ${kept.manifest.number} of KEYS_DIR differs from the one in the database`);
}

async function auditPlace(
  { objectStore, verifySignature }: KeysAudit,
  { manifest }: TrustedKeyManifest,
  row: ManifestAuditRow,
  fault: (what: string) => void,
): Promise<void> {
  const what = `key manifest ${row.number}`;
  if (row.leaf_index === null && !row.waits) fault(`${what} is not in the keys log`);
  if (row.leaf_index !== null && row.leaf_index !== row.number - 1n)
    fault(`${what} is entry ${row.leaf_index} of the keys log`);
  if (!row.entry || !equalBytes(row.entry, row.manifest)) fault(`${what} differs from its entry of the keys log`);
  const kept = await keptManifest(objectStore, manifest.subject, Number(row.number));
  if (!kept) fault(`${what} is not in the object store`);
  else if (!equalBytes(kept, row.manifest)) {
    const key = manifestObjectKey(manifest.subject, Number(row.number));
    const damage = await manifestDamage(key, kept, verifySignature);
    fault(damage ?? `${what} differs from the one in the object store`);
  }
  if (row.number !== BigInt(manifest.number)) return;
  if (await keptManifest(objectStore, manifest.subject, manifest.number + 1))
    fault(`the object store has key manifest ${manifest.number + 1}: the database was rolled back to an older state`);
}

async function auditKeyRows(
  { database, deployment }: KeysAudit,
  { manifest }: TrustedKeyManifest,
  fault: (what: string) => void,
): Promise<void> {
  const { deploymentTenancy } = deployment;
  const { rows, strange } = await database.inTransaction('system', async (tx) => ({
    rows: await listSigningKeys(tx, deploymentTenancy),
    strange: await strangeKeyRows(tx, deploymentTenancy, {
      deployment: [...DEPLOYMENT_ROLES, PEPPER_ROLE],
      tenancy: TENANCY_ROLES,
    }),
  }));
  for (const each of manifestRowFaults(manifest, rows)) fault(each);
  for (const row of strange) fault(`the row of key ${row.key_id} of tenant/${row.tenant_id} has the role ${row.role}`);
  for (const row of rows.filter(
    ({ role, certificate }) => DEPLOYMENT_ROLES.some((each) => each === role) && certificate,
  ))
    fault(`the row of key ${row.keyId} has a certificate: a key manifest lists it`);
  const peppers = rows.filter(({ role }) => role === PEPPER_ROLE);
  const [pepper] = peppers;
  const sound = pepper?.state === 'active' && pepper.algorithm === 'HS256' && pepper.validUntil === null;
  if (peppers.length !== 1 || !sound || Object.keys(pepper.publicJwk).length > 0)
    fault('the row that marks the token pepper was changed');
}

async function auditTenancyKeys(
  { database, verifySignature }: KeysAudit,
  { manifest }: TrustedKeyManifest,
  fault: (what: string) => void,
): Promise<void> {
  const issuerKeys = manifestJwks(manifest, ['issuer']);
  await database.inTransaction('system', async (tx) => {
    for await (const row of tenancyKeys(tx)) {
      const found = await certificateFault(row, issuerKeys, verifySignature);
      if (found) fault(`the ${row.role} key ${row.keyId} of tenant/${row.tenantId} ${found}`);
    }
    for (const { tenant_id: tenantId, wallet_address: address, wallets, tesseras } of await walletRows(tx)) {
      if (wallets.length !== 1 || tesseras !== 1n)
        fault(`tenant/${tenantId} does not have exactly one wallet key and one tessera key`);
      else if (jwkAddress(wallets[0]!) !== address)
        fault(`the wallet address of tenant/${tenantId} does not belong to its wallet key`);
    }
  });
}

async function certificateFault(
  row: TenancyKeyRow,
  issuerKeys: ReturnType<typeof manifestJwks>,
  verifySignature: VerifySignature,
): Promise<string | undefined> {
  if (!row.certificate) return 'has no certificate of the issuer key: the service did not make it';
  try {
    const key = await verifyTenancyKey(row.certificate, issuerKeys, verifySignature);
    const named = namedKey(row.publicJwk);
    const same =
      key.tenantId === row.tenantId &&
      key.role === row.role &&
      key.keyId === row.keyId &&
      named.keyId === row.keyId &&
      Object.keys(row.publicJwk).length === Object.keys(named.jwk).length &&
      named.algorithm === row.algorithm &&
      key.validFromMs === row.validFrom.getTime();
    if (!same) return 'differs from the key in its certificate';
    return row.state === 'active' && row.validUntil === null
      ? undefined
      : 'has an end, but keys of tenancies never end';
  } catch (error) {
    if (error instanceof VerificationError) return `has an invalid certificate: ${error.message}`;
    if (error instanceof TypeError) return 'cannot be read';
    throw error;
  }
}
