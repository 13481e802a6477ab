import { parsePolicyFilter } from '../../filter/attribute-filter.js';
import { matchesAttributeFilter } from '../../filter/matches.js';
import { condition } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Attributes } from '../attributes.js';
import { compliancePolicyRows, type StoredPolicy } from './compliance-policy-store.js';

/** Policies that one query reads. */
const POLICIES_AT_ONCE = 500;

/** Every policy of a tenancy, newest first. */
export async function everyPolicy(tx: Tx, tenantId: string): Promise<StoredPolicy[]> {
  const found: StoredPolicy[] = [];
  const own = condition('p.tenant_id = ?', tenantId);
  for (let last: string | undefined; ; ) {
    const beyond = last === undefined ? [] : [condition('p.policy_id < ?', last)];
    const policies = await compliancePolicyRows.list(tx, [own, ...beyond], POLICIES_AT_ONCE);
    found.push(...policies.rows);
    if (!policies.cut && policies.rows.length < POLICIES_AT_ONCE) return found;
    last = policies.rows.at(-1)!.policyId;
  }
}

/** Those of the policies whose `asset_filter` an asset with these attributes passes. */
export function applicablePolicies(policies: readonly StoredPolicy[], attributes: Attributes): StoredPolicy[] {
  return policies.filter(({ policy }) =>
    matchesAttributeFilter(
      parsePolicyFilter(policy.asset_filter, { field: 'asset_filter', prefix: 'attributes.' }),
      attributes,
    ),
  );
}

/** The display types of the events that these policies use. */
export function namedDisplayTypes(policies: readonly StoredPolicy[]): string[] {
  const named = policies.flatMap(({ policy }) => [policy.event_display_type, policy.closing_event_display_type]);
  return [...new Set(named.filter((name) => name !== ''))];
}
