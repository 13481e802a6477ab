import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { PublicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import { type ChainKey, chainKey } from './chain-key.js';
import { type KeyFiles, secretFingerprint } from './key-files.js';
import { DEPLOYMENT_ROLES, type KeyRole, PEPPER_ROLE } from './key-role.js';
import type { Keyring, PublishedKey } from './keyring.js';
import { nodeSigner } from './node-signer.js';
import type { SigningKeyRow } from './signing-key-store.js';

const EVIDENCE_ROLES = ['issuer', 'statement_receipt', 'seal', 'note'] as const;

function published(row: SigningKeyRow & { readonly role: KeyRole }): PublishedKey {
  return {
    keyId: row.keyId,
    role: row.role,
    algorithm: row.algorithm,
    jwk: row.publicJwk as unknown as PublicJwk,
    state: row.state,
    validFrom: row.validFrom,
    validUntil: row.validUntil ?? undefined,
  };
}

function isOf(row: SigningKeyRow, roles: readonly KeyRole[]): row is SigningKeyRow & { readonly role: KeyRole } {
  return roles.some((role) => role === row.role);
}

function requireActive(rows: readonly SigningKeyRow[], role: SigningKeyRow['role']): SigningKeyRow {
  const row = rows.find((candidate) => candidate.role === role && candidate.state === 'active');
  if (!row) throw new Error(`there is no active key for the role ${role}`);
  return row;
}

/** Keys as one moment has them. */
interface Keys {
  readonly rows: readonly SigningKeyRow[];
  readonly active: ReadonlyMap<KeyRole, { keyId: string; key: KeyObject }>;
  readonly signers: ReadonlyMap<KeyRole, Signer>;
  readonly chain: ChainKey;
}

/** A keyring of a running service, whose keys others may rotate. */
export interface OpenKeyring extends Keyring {
  /**
   * Goes over to the keys that the database names now: active ones sign from here on, others are published as they are.
   * @throws {Error} naming the key whose private half is missing; the keyring is then as before
   */
  adopt(rows: readonly SigningKeyRow[]): Promise<void>;
}

/**
 * Loads the private halves of the deployment's active keys. A service that could publish and not sign must not start.
 * @throws {Error} naming the key whose private half is missing, or when the pepper is not the deployment's
 */
export async function openKeyring(
  rows: readonly SigningKeyRow[],
  files: KeyFiles,
  secrets: { readonly pepper: Uint8Array; readonly pageTokenKey: Uint8Array },
): Promise<OpenKeyring> {
  if (requireActive(rows, PEPPER_ROLE).keyId !== secretFingerprint(secrets.pepper))
    throw new Error('KEYS_DIR has another token-pepper than this deployment: restore it, or no client secret is known');
  let keys = await loadKeys(rows, files);
  return {
    ...secrets,
    get chain() {
      return keys.chain;
    },
    signer: (role) => keys.signers.get(role)!,
    publicKeys: (roles) => keys.rows.filter((row) => isOf(row, roles)).map(published),
    signToken(claims, { typ }) {
      const token = keys.active.get('token')!;
      return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', typ, kid: token.keyId }).sign(token.key);
    },
    async adopt(next) {
      keys = await loadKeys(next, files, keys);
    },
  };
}

async function loadKeys(rows: readonly SigningKeyRow[], files: KeyFiles, before?: Keys): Promise<Keys> {
  const active = new Map<KeyRole, { keyId: string; key: KeyObject }>();
  for (const role of DEPLOYMENT_ROLES) {
    const { keyId } = requireActive(rows, role);
    const held = before?.active.get(role);
    active.set(role, held?.keyId === keyId ? held : { keyId, key: await files.load(keyId) });
  }
  const signers = EVIDENCE_ROLES.map((role): [KeyRole, Signer] => {
    const { keyId, key } = active.get(role)!;
    const held = before?.active.get(role)?.keyId === keyId ? before.signers.get(role) : undefined;
    return [role, held ?? nodeSigner(key)];
  });
  const chain = active.get('chain')!;
  const heldChain = before?.active.get('chain')?.keyId === chain.keyId ? before.chain : undefined;
  return { rows, active, signers: new Map(signers), chain: heldChain ?? chainKey(chain.key) };
}
