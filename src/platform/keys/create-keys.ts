import { randomBytes } from 'node:crypto';
import { concatBytes, fromBase64 } from '../../core/bytes.js';
import { namedKey } from '../../core/keys/manifest-key.js';
import type { TenancyKey } from '../../core/keys/tenancy-key-certificate.js';
import type { Tx } from '../postgres/database.js';
import { DEPLOYMENT_ROLES, KEY_KINDS, type KeyRole, PEPPER_ROLE, TOKEN_PEPPER } from './key-role.js';
import type { KeyStore } from './key-store.js';
import { type SecretFiles, secretFingerprint } from './secret-files.js';
import { insertSigningKey } from './signing-key-store.js';
import { walletAddress } from './wallet-address.js';

/**
 * Creates the service's own keys. The private half is stored before the public half is in the database; a crash in
 * between leaves an unused private half.
 */
export async function createDeploymentKeys(
  tx: Tx,
  store: KeyStore,
  secrets: SecretFiles,
  tenantId: string,
  validFrom: Date,
): Promise<void> {
  for (const role of DEPLOYMENT_ROLES) await createKey(tx, store, tenantId, role, validFrom);
  const pepper = await secrets.secret(TOKEN_PEPPER, (count) => randomBytes(count));
  await insertSigningKey(tx, tenantId, {
    keyId: secretFingerprint(pepper),
    role: PEPPER_ROLE,
    algorithm: 'HS256',
    publicJwk: {},
    state: 'active',
    validFrom,
    validUntil: null,
  });
}

/** Certifies a tenancy's key with the issuer key. */
export type CertifyTenancyKey = (key: TenancyKey) => Promise<Uint8Array>;

/** Creates a tenancy's wallet key and tessera key, both certified. Resolves to the wallet's address (EIP-55). */
export async function createTenancyKeys(
  tx: Tx,
  store: KeyStore,
  tenantId: string,
  validFrom: Date,
  certify: CertifyTenancyKey,
): Promise<string> {
  await createKey(tx, store, tenantId, 'tessera', validFrom, certify);
  const { x, y } = await createKey(tx, store, tenantId, 'wallet', validFrom, certify);
  return walletAddress(concatBytes(fromBase64(x!), fromBase64(y!)));
}

/** Creates the active key of a role, which must not have one. Resolves to its public half. */
async function createKey(
  tx: Tx,
  store: KeyStore,
  tenantId: string,
  role: KeyRole,
  validFrom: Date,
  certify?: CertifyTenancyKey,
): Promise<Record<string, string>> {
  const { keyId, publicJwk } = await store.generate(role);
  const { algorithm } = KEY_KINDS[role];
  const certificate = await certify?.({ tenantId, role, validFromMs: validFrom.getTime(), ...namedKey(publicJwk) });
  await insertSigningKey(tx, tenantId, {
    keyId,
    role,
    algorithm,
    publicJwk,
    state: 'active',
    validFrom,
    validUntil: null,
    certificate: certificate ?? null,
  });
  return publicJwk;
}
