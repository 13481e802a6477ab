import { selected, table } from '../platform/postgres/columns.js';
import type { Tx } from '../platform/postgres/database.js';
import { insertRows } from '../platform/postgres/insert-rows.js';
import { deleteRows, findRow, replacing } from '../platform/postgres/rows-by-key.js';
import type { RegistrationSettings } from './registration-policy.js';
import type { TrustAnchor } from './trust-anchor.js';

const ANCHOR = table('trust_anchor').columns<TrustAnchor>({
  tenantId: 'tenant_id',
  anchorId: 'anchor_id',
  kind: 'kind',
  displayName: 'display_name',
  issuer: 'issuer',
  kid: 'kid',
  thumbprint: 'thumbprint',
  material: 'material',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'anchorId'] as const;
const COLUMNS = selected(ANCHOR, 'a');

const SETTINGS = table('registration_settings').columns<RegistrationSettings & { readonly tenantId: string }>({
  tenantId: 'tenant_id',
  selfAsserted: 'self_asserted',
});

/** Adds an anchor; false when the tenancy already trusts this key of this issuer, or this authority. */
export async function insertTrustAnchor(tx: Tx, anchor: TrustAnchor): Promise<boolean> {
  const touched = await insertRows(tx, ANCHOR, [anchor], 'ON CONFLICT DO NOTHING');
  return touched === 1;
}

/** All anchors of a tenancy, oldest first. */
export async function listTrustAnchors(tx: Tx, tenantId: string): Promise<TrustAnchor[]> {
  return tx.query<TrustAnchor>(
    `SELECT ${COLUMNS} FROM archivist.trust_anchor a WHERE tenant_id = $1 ORDER BY anchor_id`,
    [tenantId],
  );
}

export async function countTrustAnchors(tx: Tx, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ total: bigint }>(
    'SELECT count(*) AS total FROM archivist.trust_anchor WHERE tenant_id = $1',
    [tenantId],
  );
  return Number(row?.total ?? 0n);
}

export function findTrustAnchor(tx: Tx, tenantId: string, anchorId: string): Promise<TrustAnchor | undefined> {
  return findRow(tx, ANCHOR, KEY, { tenantId, anchorId });
}

/** The keys of one issuer or, for the empty name, the certificate authorities. */
export async function anchorsOfIssuer(tx: Tx, tenantId: string, issuer: string): Promise<TrustAnchor[]> {
  const kind = issuer === '' ? 'certificate_authority' : 'issuer_key';
  return tx.query<TrustAnchor>(
    `SELECT ${COLUMNS} FROM archivist.trust_anchor a WHERE tenant_id = $1 AND kind = $2 AND issuer = $3 ORDER BY anchor_id`,
    [tenantId, kind, issuer],
  );
}

/** Deletes an anchor; false when it does not exist. */
export async function deleteTrustAnchorRow(tx: Tx, tenantId: string, anchorId: string): Promise<boolean> {
  return (await deleteRows(tx, ANCHOR, KEY, { tenantId, anchorId })) === 1;
}

/** The settings of an Owner; undefined if no Owner has changed them. */
export function findSettings(tx: Tx, tenantId: string): Promise<RegistrationSettings | undefined> {
  return findRow(tx, SETTINGS, ['tenantId'], { tenantId });
}

export async function setSettings(tx: Tx, tenantId: string, settings: RegistrationSettings): Promise<void> {
  await insertRows(tx, SETTINGS, [{ tenantId, ...settings }], replacing(SETTINGS, ['tenantId'], ['selfAsserted']));
}
