import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { AccessPolicy, PolicyContent } from './access-policy.js';
import type { PrincipalKey } from './principal-key.js';

interface PolicyRow {
  tenant_id: string;
  policy_id: string;
  version: bigint;
  display_name: string;
  description: string;
  filters: PolicyContent['filters'];
  access_permissions: PolicyContent['access_permissions'];
  created_at: Date;
}

interface PolicyAddress {
  readonly tenantId: string;
  readonly policyId: string;
}

const COLUMNS = `p.tenant_id, p.policy_id, p.version, p.display_name, p.description, p.filters, p.access_permissions,
  p.created_at`;

export async function insertAccessPolicy(tx: Tx, policy: AccessPolicy): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.access_policy (tenant_id, policy_id, version, display_name, description, filters,
       access_permissions, created_at) VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8)`,
    [
      policy.tenantId,
      policy.policyId,
      policy.version.toString(),
      policy.display_name,
      policy.description,
      JSON.stringify(policy.filters),
      JSON.stringify(policy.access_permissions),
      policy.createdAt,
    ],
  );
}

/** With `lock`, no other transaction can change the policy until this one ends. */
export async function findAccessPolicy(
  tx: Tx,
  address: PolicyAddress,
  lock: 'lock' | 'read' = 'read',
): Promise<AccessPolicy | undefined> {
  const [row] = await tx.query<PolicyRow>(
    `SELECT ${COLUMNS} FROM archivist.access_policy p WHERE p.tenant_id = $1 AND p.policy_id = $2
     ${lock === 'lock' ? 'FOR UPDATE' : ''}`,
    [address.tenantId, address.policyId],
  );
  return row && policyOf(row);
}

export async function updateAccessPolicy(tx: Tx, policy: AccessPolicy): Promise<void> {
  await tx.execute(
    `UPDATE archivist.access_policy SET version = $3, display_name = $4, description = $5, filters = $6::text::jsonb,
       access_permissions = $7::text::jsonb WHERE tenant_id = $1 AND policy_id = $2`,
    [
      policy.tenantId,
      policy.policyId,
      policy.version.toString(),
      policy.display_name,
      policy.description,
      JSON.stringify(policy.filters),
      JSON.stringify(policy.access_permissions),
    ],
  );
}

/** True if it existed. */
export async function deleteAccessPolicyRow(tx: Tx, address: PolicyAddress): Promise<boolean> {
  const deleted = await tx.execute('DELETE FROM archivist.access_policy WHERE tenant_id = $1 AND policy_id = $2', [
    address.tenantId,
    address.policyId,
  ]);
  return deleted > 0;
}

/** Replaces the keys by which the policy is found. */
export async function setPolicyPrincipals(
  tx: Tx,
  address: PolicyAddress,
  principals: readonly PrincipalKey[],
): Promise<void> {
  const { tenantId, policyId } = address;
  await tx.execute('DELETE FROM archivist.access_policy_principal WHERE tenant_id = $1 AND policy_id = $2', [
    tenantId,
    policyId,
  ]);
  await tx.execute(
    `INSERT INTO archivist.access_policy_principal (tenant_id, principal, policy_id)
     SELECT DISTINCT $1::uuid, principal, $2::uuid FROM unnest($3::text[]) AS principal`,
    [tenantId, policyId, principals],
  );
}

/** The policies of a tenancy that name a principal by one of these keys. */
export async function policiesNaming(
  tx: Tx,
  tenantId: string,
  principals: readonly PrincipalKey[],
): Promise<AccessPolicy[]> {
  const rows = await tx.query<PolicyRow>(
    `SELECT ${COLUMNS} FROM archivist.access_policy p WHERE p.tenant_id = $1 AND p.policy_id IN
       (SELECT n.policy_id FROM archivist.access_policy_principal n WHERE n.tenant_id = $1 AND n.principal = ANY ($2::text[]))`,
    [tenantId, principals],
  );
  return rows.map(policyOf);
}

/** The policies of these tenancies that name another organisation. */
export async function policiesOfShares(tx: Tx, tenantIds: readonly string[]): Promise<AccessPolicy[]> {
  const rows = await tx.query<PolicyRow>(
    `SELECT ${COLUMNS} FROM archivist.access_policy p WHERE p.tenant_id = ANY ($1::uuid[]) AND (p.tenant_id, p.policy_id) IN
       (SELECT n.tenant_id, n.policy_id FROM archivist.access_policy_principal n
         WHERE n.tenant_id = ANY ($1::uuid[]) AND starts_with(n.principal, 'subjects/'))`,
    [tenantIds],
  );
  return rows.map(policyOf);
}

/** Conditions refer to a row as `p`. */
export const accessPolicyRows = rowList<PolicyRow, AccessPolicy>({
  from: 'archivist.access_policy p',
  columns: COLUMNS,
  idColumn: 'p.policy_id',
  idOf: ({ policyId }) => policyId,
  nameColumn: 'p.display_name',
  nameOf: (entry) => entry.display_name,
  entryOf: policyOf,
});

function policyOf(row: PolicyRow): AccessPolicy {
  return {
    tenantId: row.tenant_id,
    policyId: row.policy_id,
    version: row.version,
    display_name: row.display_name,
    description: row.description,
    filters: row.filters,
    access_permissions: row.access_permissions,
    createdAt: row.created_at,
  };
}
