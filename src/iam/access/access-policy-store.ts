import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { AccessPolicy } from './access-policy.js';
import type { PrincipalKey } from './principal-key.js';

interface PolicyAddress {
  readonly tenantId: string;
  readonly policyId: string;
}

const POLICY = table('access_policy').columns<AccessPolicy>({
  tenantId: 'tenant_id',
  policyId: 'policy_id',
  version: 'version',
  display_name: 'display_name',
  description: 'description',
  filters: 'filters',
  access_permissions: 'access_permissions',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'policyId'] as const;
const POLICY_PRINCIPAL = table('access_policy_principal').columns<PolicyAddress & { readonly principal: PrincipalKey }>(
  {
    tenantId: 'tenant_id',
    principal: 'principal',
    policyId: 'policy_id',
  },
);
const COLUMNS = selected(POLICY, 'p');

export async function insertAccessPolicy(tx: Tx, policy: AccessPolicy): Promise<void> {
  await insertRows(tx, POLICY, [policy]);
}

/** With `lock`, no other transaction can change the policy until this one ends. */
export function findAccessPolicy(
  tx: Tx,
  address: PolicyAddress,
  lock: 'lock' | 'read' = 'read',
): Promise<AccessPolicy | undefined> {
  return findRow(tx, POLICY, KEY, address, lock === 'lock' ? 'FOR UPDATE' : '');
}

export async function updateAccessPolicy(tx: Tx, policy: AccessPolicy): Promise<void> {
  const changed = ['version', 'display_name', 'description', 'filters', 'access_permissions'] as const;
  await updateRows(tx, POLICY, KEY, changed, policy);
}

/** True if it existed. */
export async function deleteAccessPolicyRow(tx: Tx, address: PolicyAddress): Promise<boolean> {
  return (await deleteRows(tx, POLICY, KEY, address)) > 0;
}

/** Replaces the keys by which the policy is found. */
export async function setPolicyPrincipals(
  tx: Tx,
  address: PolicyAddress,
  principals: readonly PrincipalKey[],
): Promise<void> {
  const { tenantId, policyId } = address;
  await deleteRows(tx, POLICY_PRINCIPAL, KEY, address);
  await insertRows(
    tx,
    POLICY_PRINCIPAL,
    [...new Set(principals)].map((principal) => ({ tenantId, principal, policyId })),
  );
}

/** The policies of a tenancy that name a principal by one of these keys. */
export async function policiesNaming(
  tx: Tx,
  tenantId: string,
  principals: readonly PrincipalKey[],
): Promise<AccessPolicy[]> {
  return tx.query<AccessPolicy>(
    `SELECT ${COLUMNS} FROM archivist.access_policy p WHERE p.tenant_id = $1 AND p.policy_id IN
       (SELECT n.policy_id FROM archivist.access_policy_principal n WHERE n.tenant_id = $1 AND n.principal = ANY ($2::text[]))`,
    [tenantId, principals],
  );
}

/** The policies of these tenancies that name another organisation. */
export async function policiesOfShares(tx: Tx, tenantIds: readonly string[]): Promise<AccessPolicy[]> {
  return tx.query<AccessPolicy>(
    `SELECT ${COLUMNS} FROM archivist.access_policy p WHERE p.tenant_id = ANY ($1::uuid[]) AND (p.tenant_id, p.policy_id) IN
       (SELECT n.tenant_id, n.policy_id FROM archivist.access_policy_principal n
         WHERE n.tenant_id = ANY ($1::uuid[]) AND starts_with(n.principal, 'subjects/'))`,
    [tenantIds],
  );
}

/** Conditions refer to a row as `p`. */
export const accessPolicyRows = rowList<AccessPolicy>({
  from: 'archivist.access_policy p',
  columns: COLUMNS,
  large: ['description', 'filters', 'access_permissions'],
  idColumn: 'p.policy_id',
  idOf: ({ policyId }) => policyId,
  nameColumn: 'p.display_name',
  nameOf: (entry) => entry.display_name,
});
