import type { ManifestKeyState } from '../../core/keys/key-manifest.js';
import type { Tx } from '../postgres/database.js';
import type { KeyRole, PEPPER_ROLE } from './key-role.js';

export interface SigningKeyRow {
  readonly keyId: string;
  readonly role: KeyRole | typeof PEPPER_ROLE;
  readonly algorithm: string;
  readonly publicJwk: Record<string, string>;
  readonly state: ManifestKeyState;
  readonly validFrom: Date;
  readonly validUntil: Date | null;
  /** For a tenancy's key: the issuer key's certificate. */
  readonly certificate?: Uint8Array | null;
}

export async function insertSigningKey(tx: Tx, tenantId: string, key: SigningKeyRow): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.signing_key (tenant_id, key_id, role, algorithm, public_jwk, state, valid_from, valid_until, certificate)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      tenantId,
      key.keyId,
      key.role,
      key.algorithm,
      JSON.stringify(key.publicJwk),
      key.state,
      key.validFrom,
      key.validUntil,
      key.certificate ?? null,
    ],
  );
}

/** A tenancy's keys, active ones first, each group with the newest first. */
export function listSigningKeys(tx: Tx, tenantId: string): Promise<SigningKeyRow[]> {
  return tx.query<SigningKeyRow>(
    `SELECT key_id AS "keyId", role, algorithm, public_jwk AS "publicJwk", state, valid_from AS "validFrom", valid_until AS "validUntil", certificate
     FROM archivist.signing_key WHERE tenant_id = $1 ORDER BY state, valid_from DESC`,
    [tenantId],
  );
}

/** Writes the row of a deployment's key as the manifest describes it; creates a missing row. */
export async function putSigningKey(tx: Tx, tenantId: string, key: SigningKeyRow): Promise<void> {
  const touched = await tx.execute(
    `UPDATE archivist.signing_key SET state = $3, valid_until = $4 WHERE tenant_id = $1 AND key_id = $2`,
    [tenantId, key.keyId, key.state, key.validUntil],
  );
  if (touched === 0) await insertSigningKey(tx, tenantId, key);
}

/** A key with the tenancy that owns it. */
export interface TenancyKeyRow extends SigningKeyRow {
  readonly tenantId: string;
}

/** Keys of tenancies after a place, in order. */
export function listTenancyKeys(
  tx: Tx,
  roles: readonly KeyRole[],
  after: { readonly tenantId: string; readonly keyId: string },
  limit: number,
): Promise<TenancyKeyRow[]> {
  return tx.query<TenancyKeyRow>(
    `SELECT tenant_id AS "tenantId", key_id AS "keyId", role, algorithm, public_jwk AS "publicJwk", state,
            valid_from AS "validFrom", valid_until AS "validUntil", certificate
       FROM archivist.signing_key
      WHERE role = ANY ($1::text[]) AND (tenant_id, key_id) > ($2::uuid, $3) ORDER BY tenant_id, key_id LIMIT $4`,
    [roles, after.tenantId, after.keyId, limit],
  );
}

export async function putCertificate(tx: Tx, key: TenancyKeyRow, certificate: Uint8Array): Promise<void> {
  await tx.execute('UPDATE archivist.signing_key SET certificate = $3 WHERE tenant_id = $1 AND key_id = $2', [
    key.tenantId,
    key.keyId,
    certificate,
  ]);
}
