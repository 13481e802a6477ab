import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { concatBytes, fromBase64, toBase64Url } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { publicJwk } from '../../core/cose/public-key.js';
import type { Tx } from '../postgres/database.js';
import { generateKey, type KeyFiles, secretFingerprint } from './key-files.js';
import { DEPLOYMENT_ROLES, KEY_KINDS, type KeyRole, PEPPER_ROLE, TOKEN_PEPPER } from './key-role.js';
import { insertSigningKey } from './signing-key-store.js';
import { walletAddress } from './wallet-address.js';

/**
 * Makes the service's own keys. The private half is on disk before the public one is in the database: a crash between
 * leaves a file that nothing names.
 */
export async function createDeploymentKeys(tx: Tx, files: KeyFiles, tenantId: string, validFrom: Date): Promise<void> {
  for (const role of DEPLOYMENT_ROLES) await createKey(tx, files, tenantId, role, validFrom);
  const pepper = await files.secret(TOKEN_PEPPER, (count) => randomBytes(count));
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

/** Makes a tenancy's wallet and tessera key. Resolves to the wallet's address (EIP-55). */
export async function createTenancyKeys(tx: Tx, files: KeyFiles, tenantId: string, validFrom: Date): Promise<string> {
  await createKey(tx, files, tenantId, 'tessera', validFrom);
  const { x, y } = await createKey(tx, files, tenantId, 'wallet', validFrom);
  return walletAddress(concatBytes(fromBase64(x!), fromBase64(y!)));
}

/** Makes the active key of a role, which must have none. Resolves to its public half. */
export async function createKey(
  tx: Tx,
  files: KeyFiles,
  tenantId: string,
  role: KeyRole,
  validFrom: Date,
): Promise<Record<string, string>> {
  const privateKey = generateKey(role);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as Record<string, string>;
  const keyId = await keyIdOf(privateKey, jwk);
  await files.save(keyId, privateKey);
  const { algorithm } = KEY_KINDS[role];
  await insertSigningKey(tx, tenantId, {
    keyId,
    role,
    algorithm,
    publicJwk: jwk,
    state: 'active',
    validFrom,
    validUntil: null,
  });
  return jwk;
}

/** COSE's thumbprint where COSE verifies with the key, JOSE's elsewhere. */
async function keyIdOf(key: KeyObject, jwk: Record<string, string>): Promise<string> {
  const forCose = key.asymmetricKeyType === 'ed25519' || jwk['crv'] === 'P-256';
  return forCose ? toBase64Url(keyThumbprint(publicJwk(jwk))) : calculateJwkThumbprint(jwk);
}
