import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import type { CompliancePolicy } from './compliance-policy.js';

/** A policy of one tenancy; immutable. */
export interface StoredPolicy {
  readonly tenantId: string;
  readonly policyId: string;
  readonly policy: CompliancePolicy;
  readonly createdAt: Date;
}

const POLICY = table('compliance_policy').columns<StoredPolicy>({
  tenantId: 'tenant_id',
  policyId: 'policy_id',
  policy: 'policy',
  createdAt: 'created_at',
});
const COLUMNS = selected(POLICY, 'p');

export async function insertPolicy(tx: Tx, stored: StoredPolicy): Promise<void> {
  await insertRows(tx, POLICY, [stored]);
}

export async function findPolicy(tx: Tx, tenantId: string, policyId: string): Promise<StoredPolicy | undefined> {
  const [row] = await tx.query<StoredPolicy>(
    `SELECT ${COLUMNS} FROM archivist.compliance_policy p WHERE p.tenant_id = $1 AND p.policy_id = $2`,
    [tenantId, policyId],
  );
  return row;
}

/** Deletes the policy and resolves with it; undefined when it does not exist or was already deleted. */
export async function deletePolicy(tx: Tx, tenantId: string, policyId: string): Promise<StoredPolicy | undefined> {
  const [row] = await tx.query<StoredPolicy>(
    `DELETE FROM archivist.compliance_policy p WHERE p.tenant_id = $1 AND p.policy_id = $2 RETURNING ${COLUMNS}`,
    [tenantId, policyId],
  );
  return row;
}

/** Conditions refer to a row as `p`. */
export const compliancePolicyRows = rowList<StoredPolicy>({
  from: 'archivist.compliance_policy p',
  columns: COLUMNS,
  large: ['policy'],
  idColumn: 'p.policy_id',
  idOf: ({ policyId }) => policyId,
});
