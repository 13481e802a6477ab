import type { Tx } from '../postgres/database.js';
import type { KeyRole, PEPPER_ROLE } from './key-role.js';

export interface SigningKeyRow {
  readonly keyId: string;
  readonly role: KeyRole | typeof PEPPER_ROLE;
  readonly algorithm: string;
  readonly publicJwk: Record<string, string>;
  readonly state: 'active' | 'retired';
  readonly validFrom: Date;
  readonly validUntil: Date | null;
}

export async function insertSigningKey(tx: Tx, tenantId: string, key: SigningKeyRow): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.signing_key (tenant_id, key_id, role, algorithm, public_jwk, state, valid_from, valid_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      tenantId,
      key.keyId,
      key.role,
      key.algorithm,
      JSON.stringify(key.publicJwk),
      key.state,
      key.validFrom,
      key.validUntil,
    ],
  );
}

/** A tenancy's keys, active ones first, of each the youngest first. */
export function listSigningKeys(tx: Tx, tenantId: string): Promise<SigningKeyRow[]> {
  return tx.query<SigningKeyRow>(
    `SELECT key_id AS "keyId", role, algorithm, public_jwk AS "publicJwk", state, valid_from AS "validFrom", valid_until AS "validUntil"
     FROM archivist.signing_key WHERE tenant_id = $1 ORDER BY state, valid_from DESC`,
    [tenantId],
  );
}

/** Retires the active key of a role and answers its id. */
export async function retireActiveKey(
  tx: Tx,
  tenantId: string,
  role: KeyRole,
  validUntil: Date,
): Promise<string | undefined> {
  const [row] = await tx.query<{ keyId: string }>(
    `UPDATE archivist.signing_key SET state = 'retired', valid_until = $3
      WHERE tenant_id = $1 AND role = $2 AND state = 'active' RETURNING key_id AS "keyId"`,
    [tenantId, role, validUntil],
  );
  return row?.keyId;
}
