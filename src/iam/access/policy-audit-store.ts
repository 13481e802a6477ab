import type { Alternatives } from '../../filter/attribute-filter.js';
import type { Tx } from '../../platform/postgres/database.js';

/** Audit events that have not yet been recorded for one version of a policy. */
export interface PolicyAudit {
  readonly tenantId: string;
  readonly policyId: string;
  readonly version: bigint;
  readonly filters: readonly Alternatives[];
  /** Attributes of every such event. */
  readonly eventAttributes: Readonly<Record<string, unknown>>;
  /** Assets up to this one already have their event. */
  readonly afterAsset: string;
  /** Assets created later get no event. */
  readonly createdAt: Date;
}

const NO_ASSET_YET = '00000000-0000-0000-0000-000000000000';

export async function insertPolicyAudit(tx: Tx, audit: Omit<PolicyAudit, 'afterAsset'>): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.access_policy_audit (tenant_id, policy_id, version, filters, event_attributes, after_asset,
       created_at) VALUES ($1, $2, $3, $4::text::jsonb, $5::text::jsonb, $6, $7)`,
    [
      audit.tenantId,
      audit.policyId,
      audit.version.toString(),
      JSON.stringify(audit.filters),
      JSON.stringify(audit.eventAttributes),
      NO_ASSET_YET,
      audit.createdAt,
    ],
  );
}

/**
 * Locks and returns an audit that no worker has claimed; undefined if there is none. The lock lasts until the
 * transaction ends.
 */
export async function takePolicyAudit(tx: Tx): Promise<PolicyAudit | undefined> {
  const [row] = await tx.query<{
    tenant_id: string;
    policy_id: string;
    version: bigint;
    filters: Alternatives[];
    event_attributes: Record<string, unknown>;
    after_asset: string;
    created_at: Date;
  }>(
    `SELECT tenant_id, policy_id, version, filters, event_attributes, after_asset, created_at
       FROM archivist.access_policy_audit ORDER BY created_at, tenant_id, policy_id, version LIMIT 1
        FOR UPDATE SKIP LOCKED`,
  );
  return (
    row && {
      tenantId: row.tenant_id,
      policyId: row.policy_id,
      version: row.version,
      filters: row.filters,
      eventAttributes: row.event_attributes,
      afterAsset: row.after_asset,
      createdAt: row.created_at,
    }
  );
}

export async function advancePolicyAudit(tx: Tx, audit: PolicyAudit, afterAsset: string): Promise<void> {
  await tx.execute(
    `UPDATE archivist.access_policy_audit SET after_asset = $4 WHERE tenant_id = $1 AND policy_id = $2 AND version = $3`,
    [audit.tenantId, audit.policyId, audit.version.toString(), afterAsset],
  );
}

export async function deletePolicyAudit(tx: Tx, audit: PolicyAudit): Promise<void> {
  await tx.execute(
    'DELETE FROM archivist.access_policy_audit WHERE tenant_id = $1 AND policy_id = $2 AND version = $3',
    [audit.tenantId, audit.policyId, audit.version.toString()],
  );
}
