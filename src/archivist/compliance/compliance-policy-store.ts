import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { CompliancePolicy } from './compliance-policy.js';

/** A policy of one tenancy; immutable. */
export interface StoredPolicy {
  readonly tenantId: string;
  readonly policyId: string;
  readonly policy: CompliancePolicy;
  readonly createdAt: Date;
}

interface PolicyRow {
  tenant_id: string;
  policy_id: string;
  policy: CompliancePolicy;
  created_at: Date;
}

const COLUMNS = 'p.tenant_id, p.policy_id, p.policy, p.created_at';

export async function insertPolicy(tx: Tx, stored: StoredPolicy): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.compliance_policy (tenant_id, policy_id, policy, created_at)
     VALUES ($1, $2, $3::text::jsonb, $4)`,
    [stored.tenantId, stored.policyId, JSON.stringify(stored.policy), stored.createdAt],
  );
}

export async function findPolicy(tx: Tx, tenantId: string, policyId: string): Promise<StoredPolicy | undefined> {
  const [row] = await tx.query<PolicyRow>(
    `SELECT ${COLUMNS} FROM archivist.compliance_policy p WHERE p.tenant_id = $1 AND p.policy_id = $2`,
    [tenantId, policyId],
  );
  return row && storedPolicyOf(row);
}

/** Deletes the policy and resolves with it; undefined when it does not exist or was already deleted. */
export async function deletePolicy(tx: Tx, tenantId: string, policyId: string): Promise<StoredPolicy | undefined> {
  const [row] = await tx.query<PolicyRow>(
    `DELETE FROM archivist.compliance_policy p WHERE p.tenant_id = $1 AND p.policy_id = $2 RETURNING ${COLUMNS}`,
    [tenantId, policyId],
  );
  return row && storedPolicyOf(row);
}

/** Conditions refer to a row as `p`. */
export const compliancePolicyRows = rowList<PolicyRow, StoredPolicy>({
  from: 'archivist.compliance_policy p',
  columns: COLUMNS,
  idColumn: 'p.policy_id',
  idOf: ({ policyId }) => policyId,
  entryOf: storedPolicyOf,
});

function storedPolicyOf(row: PolicyRow): StoredPolicy {
  return { tenantId: row.tenant_id, policyId: row.policy_id, policy: row.policy, createdAt: row.created_at };
}
