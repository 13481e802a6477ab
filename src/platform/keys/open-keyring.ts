import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { PublicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import type { KeyFiles } from './key-files.js';
import { DEPLOYMENT_ROLES, type KeyRole } from './key-role.js';
import type { Keyring } from './keyring.js';
import { nodeSigner } from './node-signer.js';
import type { SigningKeyRow } from './signing-key-store.js';

const COSE_ROLES = ['issuer', 'statement_receipt', 'seal', 'note'] as const;

/**
 * Loads the private halves of the active keys. A service that could publish and not sign must not start.
 * @throws {Error} naming the key whose private half is missing
 */
export async function openKeyring(
  rows: readonly SigningKeyRow[],
  files: KeyFiles,
  secrets: { readonly pepper: Uint8Array; readonly pageTokenKey: Uint8Array },
): Promise<Keyring> {
  const active = new Map<KeyRole, { row: SigningKeyRow; key: KeyObject }>();
  for (const role of DEPLOYMENT_ROLES) {
    const row = rows.find((candidate) => candidate.role === role && candidate.state === 'active');
    if (!row) throw new Error(`There is no active key for the role ${role}.`);
    active.set(role, { row, key: await files.load(row.keyId) });
  }
  const signers = new Map<KeyRole, Signer>(COSE_ROLES.map((role) => [role, nodeSigner(active.get(role)!.key)]));
  const token = active.get('token')!;
  return {
    ...secrets,
    signer: (role) => signers.get(role)!,
    publicKeys: (roles) =>
      rows
        .filter((row) => roles.includes(row.role))
        .map((row) => ({
          keyId: row.keyId,
          role: row.role,
          algorithm: row.algorithm,
          jwk: row.publicJwk as unknown as PublicJwk,
          state: row.state,
          validFrom: row.validFrom,
          validUntil: row.validUntil ?? undefined,
        })),
    signToken: (claims, header) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: header.typ, kid: token.row.keyId })
        .sign(token.key),
  };
}
