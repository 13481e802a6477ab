import type { Tx } from '../platform/postgres/database.js';
import type { RegistrationSettings } from './registration-policy.js';
import type { TrustAnchor } from './trust-anchor.js';

interface TrustAnchorRow {
  tenant_id: string;
  anchor_id: string;
  kind: TrustAnchor['kind'];
  display_name: string;
  issuer: string;
  kid: Uint8Array;
  thumbprint: Uint8Array;
  material: string;
  created_at: Date;
}

const COLUMNS = 'tenant_id, anchor_id, kind, display_name, issuer, kid, thumbprint, material, created_at';

/** Adds an anchor; false when the tenancy already trusts this key of this issuer, or this authority. */
export async function insertTrustAnchor(tx: Tx, anchor: TrustAnchor): Promise<boolean> {
  const touched = await tx.execute(
    `INSERT INTO archivist.trust_anchor (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
    [
      anchor.tenantId,
      anchor.anchorId,
      anchor.kind,
      anchor.displayName,
      anchor.issuer,
      anchor.kid,
      anchor.thumbprint,
      anchor.material,
      anchor.createdAt,
    ],
  );
  return touched === 1;
}

/** All anchors of a tenancy, oldest first. */
export async function listTrustAnchors(tx: Tx, tenantId: string): Promise<TrustAnchor[]> {
  const rows = await tx.query<TrustAnchorRow>(
    `SELECT ${COLUMNS} FROM archivist.trust_anchor WHERE tenant_id = $1 ORDER BY anchor_id`,
    [tenantId],
  );
  return rows.map(trustAnchor);
}

export async function countTrustAnchors(tx: Tx, tenantId: string): Promise<number> {
  const [row] = await tx.query<{ total: bigint }>(
    'SELECT count(*) AS total FROM archivist.trust_anchor WHERE tenant_id = $1',
    [tenantId],
  );
  return Number(row?.total ?? 0n);
}

export async function findTrustAnchor(tx: Tx, tenantId: string, anchorId: string): Promise<TrustAnchor | undefined> {
  const [row] = await tx.query<TrustAnchorRow>(
    `SELECT ${COLUMNS} FROM archivist.trust_anchor WHERE tenant_id = $1 AND anchor_id = $2`,
    [tenantId, anchorId],
  );
  return row && trustAnchor(row);
}

/** The keys of one issuer or, for the empty name, the certificate authorities. */
export async function anchorsOfIssuer(tx: Tx, tenantId: string, issuer: string): Promise<TrustAnchor[]> {
  const kind = issuer === '' ? 'certificate_authority' : 'issuer_key';
  const rows = await tx.query<TrustAnchorRow>(
    `SELECT ${COLUMNS} FROM archivist.trust_anchor WHERE tenant_id = $1 AND kind = $2 AND issuer = $3 ORDER BY anchor_id`,
    [tenantId, kind, issuer],
  );
  return rows.map(trustAnchor);
}

/** Deletes an anchor; false when it does not exist. */
export async function deleteTrustAnchorRow(tx: Tx, tenantId: string, anchorId: string): Promise<boolean> {
  const touched = await tx.execute('DELETE FROM archivist.trust_anchor WHERE tenant_id = $1 AND anchor_id = $2', [
    tenantId,
    anchorId,
  ]);
  return touched === 1;
}

/** The settings of an Owner; undefined if no Owner has changed them. */
export async function findSettings(tx: Tx, tenantId: string): Promise<RegistrationSettings | undefined> {
  const [row] = await tx.query<{ self_asserted: boolean }>(
    'SELECT self_asserted FROM archivist.registration_settings WHERE tenant_id = $1',
    [tenantId],
  );
  return row && { selfAsserted: row.self_asserted };
}

export async function setSettings(tx: Tx, tenantId: string, settings: RegistrationSettings): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.registration_settings (tenant_id, self_asserted) VALUES ($1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET self_asserted = excluded.self_asserted`,
    [tenantId, settings.selfAsserted],
  );
}

function trustAnchor(row: TrustAnchorRow): TrustAnchor {
  return {
    tenantId: row.tenant_id,
    anchorId: row.anchor_id,
    kind: row.kind,
    displayName: row.display_name,
    issuer: row.issuer,
    kid: row.kid,
    thumbprint: row.thumbprint,
    material: row.material,
    createdAt: row.created_at,
  };
}
