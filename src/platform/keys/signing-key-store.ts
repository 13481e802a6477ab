import type { ManifestKeyState } from '../../core/keys/key-manifest.js';
import { selected, table } from '../postgres/columns.js';
import type { Tx } from '../postgres/database.js';
import { insertRows } from '../postgres/insert-rows.js';
import { updateRows } from '../postgres/rows-by-key.js';
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

/** A key with the tenancy that owns it. */
export interface TenancyKeyRow extends SigningKeyRow {
  readonly tenantId: string;
}

const KEY = table('signing_key').columns<TenancyKeyRow>({
  tenantId: 'tenant_id',
  keyId: 'key_id',
  role: 'role',
  algorithm: 'algorithm',
  publicJwk: 'public_jwk',
  state: 'state',
  validFrom: 'valid_from',
  validUntil: 'valid_until',
  certificate: 'certificate',
});
const ID = ['tenantId', 'keyId'] as const;
const COLUMNS = selected(KEY, 'k');

export async function insertSigningKey(tx: Tx, tenantId: string, key: SigningKeyRow): Promise<void> {
  await insertRows(tx, KEY, [{ ...key, tenantId }]);
}

/** A tenancy's keys, active ones first, each group with the newest first. */
export function listSigningKeys(tx: Tx, tenantId: string): Promise<SigningKeyRow[]> {
  return tx.query<SigningKeyRow>(
    `SELECT ${COLUMNS} FROM archivist.signing_key k WHERE k.tenant_id = $1 ORDER BY k.state, k.valid_from DESC`,
    [tenantId],
  );
}

/** Writes the row of a deployment's key as the manifest describes it; creates a missing row. */
export async function putSigningKey(tx: Tx, tenantId: string, key: SigningKeyRow): Promise<void> {
  const touched = await updateRows(tx, KEY, ID, ['state', 'validUntil'], { ...key, tenantId });
  if (touched === 0) await insertSigningKey(tx, tenantId, key);
}

/** Keys of tenancies after a place, in order. */
export function listTenancyKeys(
  tx: Tx,
  roles: readonly KeyRole[],
  after: { readonly tenantId: string; readonly keyId: string },
  limit: number,
): Promise<TenancyKeyRow[]> {
  return tx.query<TenancyKeyRow>(
    `SELECT ${COLUMNS} FROM archivist.signing_key k
      WHERE k.role = ANY ($1::text[]) AND (k.tenant_id, k.key_id) > ($2::uuid, $3) ORDER BY k.tenant_id, k.key_id LIMIT $4`,
    [roles, after.tenantId, after.keyId, limit],
  );
}

export async function putCertificate(tx: Tx, key: TenancyKeyRow, certificate: Uint8Array): Promise<void> {
  await updateRows(tx, KEY, ID, ['certificate'], { ...key, certificate });
}
