import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRow, findRow } from '../../platform/postgres/rows-by-key.js';
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
const KEY = ['tenantId', 'policyId'] as const;
const COLUMNS = selected(POLICY, 'p');

export async function insertPolicy(tx: Tx, stored: StoredPolicy): Promise<void> {
  await insertRows(tx, POLICY, [stored]);
}

export function findPolicy(tx: Tx, tenantId: string, policyId: string): Promise<StoredPolicy | undefined> {
  return findRow(tx, POLICY, KEY, { tenantId, policyId });
}

/** Deletes the policy and resolves with it; undefined when it does not exist or was already deleted. */
export function deletePolicy(tx: Tx, tenantId: string, policyId: string): Promise<StoredPolicy | undefined> {
  return deleteRow(tx, POLICY, KEY, { tenantId, policyId });
}

/** Conditions refer to a row as `p`. */
export const compliancePolicyRows = rowList<StoredPolicy>({
  from: 'archivist.compliance_policy p',
  columns: COLUMNS,
  large: ['policy'],
  idColumn: 'p.policy_id',
  idOf: ({ policyId }) => policyId,
});
