import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { AccessPolicy } from './access-policy.js';
import { EVERY_POLICY, MOST_NAMED, MOST_OF_TENANCY } from './policy-limits.js';
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
/** Of a policy `p`; it is stored unless the policy was saved by a version that had no weights. */
const WEIGHT = 'coalesce(p.weight, archivist.access_policy_weight(p.filters, p.access_permissions))';

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

/** The policies of a tenancy that name somebody by one of these keys, without a limit. */
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

/** A principal as the policies of one tenancy name it. */
export interface NamedBy {
  readonly tenantId: string;
  readonly principals: readonly PrincipalKey[];
}

/**
 * The policies that name a principal, up to a weight of `MOST_NAMED` for all of them; the oldest ones of each tenancy
 * first, so that no tenancy takes the room of the others.
 * @returns also how many have no room
 */
export async function policiesInEffect(
  tx: Tx,
  named: readonly NamedBy[],
): Promise<{ readonly policies: AccessPolicy[]; readonly skipped: number }> {
  const keys = named.flatMap(({ tenantId, principals }) => principals.map((principal) => ({ tenantId, principal })));
  const rows = await tx.query<AccessPolicy & { readonly found: bigint; readonly counts: boolean }>(
    `WITH named AS
       (SELECT DISTINCT n.tenant_id, n.policy_id FROM unnest($1::uuid[], $2::text[]) AS wanted(tenant_id, principal)
          JOIN archivist.access_policy_principal n USING (tenant_id, principal)),
     weighed AS
       (SELECT p.tenant_id, p.policy_id, ${WEIGHT} AS weight,
               sum(${WEIGHT}) OVER (PARTITION BY p.tenant_id ORDER BY p.created_at, p.policy_id) AS up_to_it
          FROM named JOIN archivist.access_policy p USING (tenant_id, policy_id)),
     taken AS
       (SELECT tenant_id, policy_id, count(*) OVER () AS found, row_number() OVER in_turn AS place,
               sum(weight) OVER in_turn <= ${MOST_NAMED} AS counts
          FROM weighed WINDOW in_turn AS (ORDER BY up_to_it, tenant_id, policy_id))
     SELECT ${COLUMNS}, t.found, t.counts FROM taken t JOIN archivist.access_policy p USING (tenant_id, policy_id)
      WHERE t.counts OR t.place = 1`,
    [keys.map(({ tenantId }) => tenantId), keys.map(({ principal }) => principal)],
  );
  // The first one is read also if it does not count: nothing else would tell how many were found.
  const policies = rows.filter(({ counts }) => counts);
  return { policies, skipped: Number(rows[0]?.found ?? 0) - policies.length };
}

/**
 * The weight of the policies that name each of these principals, and of all policies of the tenancy under
 * `EVERY_POLICY`; only what is above its limit.
 */
export async function excessWeights(
  tx: Tx,
  tenantId: string,
  principals: readonly PrincipalKey[],
): Promise<ReadonlyMap<PrincipalKey | typeof EVERY_POLICY, number>> {
  const rows = await tx.query<{ principal: string; weight: bigint }>(
    `SELECT n.principal, sum(${WEIGHT}) AS weight
       FROM archivist.access_policy_principal n JOIN archivist.access_policy p USING (tenant_id, policy_id)
      WHERE n.tenant_id = $1 AND n.principal = ANY ($2::text[]) GROUP BY n.principal HAVING sum(${WEIGHT}) > ${MOST_NAMED}
     UNION ALL
     SELECT '${EVERY_POLICY}', sum(${WEIGHT}) FROM archivist.access_policy p
      WHERE p.tenant_id = $1 HAVING sum(${WEIGHT}) > ${MOST_OF_TENANCY}`,
    [tenantId, principals],
  );
  return new Map(rows.map(({ principal, weight }) => [principal, Number(weight)]));
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
