import { type AttributeFilter, parsePolicyFilter } from '../../filter/attribute-filter.js';
import { matchesAttributeFilter } from '../../filter/matches.js';
import { inPieces } from '../../platform/in-pieces.js';
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

/** A policy with its `asset_filter`, parsed. */
interface ReadPolicy {
  readonly stored: StoredPolicy;
  readonly filter: AttributeFilter;
}

/** Parses the filters of these policies, for any number of assets. Other requests are served in between. */
export function readFilters(policies: readonly StoredPolicy[]): Promise<ReadPolicy[]> {
  return inPieces(policies, (stored) => ({
    stored,
    filter: parsePolicyFilter(stored.policy.asset_filter, { field: 'asset_filter', prefix: 'attributes.' }),
  }));
}

/**
 * Those of the policies whose `asset_filter` an asset with these attributes passes. Other requests are served in between.
 */
export async function applicablePolicies(
  policies: readonly ReadPolicy[],
  attributes: Attributes,
): Promise<StoredPolicy[]> {
  const applied = await inPieces(policies, ({ filter }) => matchesAttributeFilter(filter, attributes));
  return policies.flatMap(({ stored }, place) => (applied[place] ? [stored] : []));
}

/** The display types of the events that these policies use. */
export function namedDisplayTypes(policies: readonly StoredPolicy[]): string[] {
  const named = policies.flatMap(({ policy }) => [policy.event_display_type, policy.closing_event_display_type]);
  return [...new Set(named.filter((name) => name !== ''))];
}
