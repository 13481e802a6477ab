import type { LogRef } from '../../ledger/log.js';
import type { Tx } from '../../platform/postgres/database.js';

/** A stored manifest with its entry in the keys log. */
export interface ManifestAuditRow {
  readonly number: bigint;
  readonly manifest: Uint8Array;
  /** The index of its entry in the keys log; null while it is queued, and if it was never queued. */
  readonly leaf_index: bigint | null;
  readonly entry: Uint8Array | null;
  readonly waits: boolean;
}

export function manifestAuditRows(tx: Tx, log: LogRef): Promise<ManifestAuditRow[]> {
  return tx.query<ManifestAuditRow>(
    `SELECT m.number, m.manifest, l.leaf_index, s.entry, i.entry_id IS NOT NULL AS waits
       FROM archivist.key_manifest m
       LEFT JOIN archivist.leaf l ON l.tenant_id = $1 AND l.log_id = $2 AND l.entry_id = m.entry_id
       LEFT JOIN archivist.intake i ON i.tenant_id = $1 AND i.log_id = $2 AND i.entry_id = m.entry_id
       LEFT JOIN archivist.statement s ON s.tenant_id = $1 AND s.event_id = m.entry_id
      WHERE m.tenant_id = $1 ORDER BY m.number`,
    [log.tenantId, log.logId],
  );
}

/** Entries of the keys log that match no stored manifest, and manifests of a tenancy without a keys log. */
export async function strayManifests(tx: Tx, log: LogRef): Promise<{ entries: bigint; manifests: bigint }> {
  const [row] = await tx.query<{ entries: bigint; manifests: bigint }>(
    `SELECT (SELECT count(*) FROM archivist.leaf l WHERE l.tenant_id = $1 AND l.log_id = $2 AND NOT EXISTS (
               SELECT FROM archivist.key_manifest m WHERE m.tenant_id = $1 AND m.entry_id = l.entry_id)) AS entries,
            (SELECT count(*) FROM archivist.key_manifest m WHERE m.tenant_id <> $1) AS manifests`,
    [log.tenantId, log.logId],
  );
  return row!;
}

/** Tenancies without exactly one wallet and one tessera key, or whose wallet differs from that of their key. */
export function walletRows(
  tx: Tx,
): Promise<{ tenant_id: string; wallet_address: string; wallets: Record<string, string>[]; tesseras: bigint }[]> {
  return tx.query(
    `SELECT t.tenant_id, t.wallet_address,
            coalesce(jsonb_agg(k.public_jwk) FILTER (WHERE k.role = 'wallet'), '[]') AS wallets,
            count(*) FILTER (WHERE k.role = 'tessera') AS tesseras
       FROM archivist.tenancy t LEFT JOIN archivist.signing_key k ON k.tenant_id = t.tenant_id
      GROUP BY t.tenant_id, t.wallet_address ORDER BY t.tenant_id`,
  );
}

/** Rows with unknown roles, and deployment roles in tenancies other than the deployment's. */
export function strangeKeyRows(
  tx: Tx,
  deploymentTenancy: string,
  roles: { readonly deployment: readonly string[]; readonly tenancy: readonly string[] },
): Promise<{ tenant_id: string; key_id: string; role: string }[]> {
  return tx.query(
    `SELECT tenant_id, key_id, role FROM archivist.signing_key
      WHERE role <> ALL ($3::text[]) AND NOT (tenant_id = $1 AND role = ANY ($2::text[]))`,
    [deploymentTenancy, roles.deployment, roles.tenancy],
  );
}
