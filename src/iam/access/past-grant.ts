import type { AttributeFilter } from '../../filter/attribute-filter.js';
import { parsePolicyFilter } from '../../filter/attribute-filter.js';
import { type AccessPermission, type AccessPolicy, POLICY_FILTER } from './access-policy.js';
import { type Showing, showingOf, shows } from './grant.js';
import { readSubject } from './principal-key.js';

/** What an ended share keeps showing; on which assets, and until when, is stored beside it. */
export interface PastGrant extends Showing {
  readonly tenantId: string;
  readonly grantId: string;
}

/** What an ended share keeps showing of one asset: events accepted until then, and attributes as of then. */
export interface PastShowing extends Showing {
  readonly until: Date;
}

/** A permission of a policy that another tenancy loses on some assets. */
export interface EndedGrant {
  readonly tenantId: string;
  readonly readerTenantId: string;
  /** The subject that names the other tenancy in the policy. */
  readonly subjectId: string;
  readonly policyId: string;
  readonly permission: AccessPermission;
  /** The assets of the policy. */
  readonly filter: AttributeFilter;
  /** Assets on which nothing ends, because the next version of the policy has the same permission for them. */
  readonly except?: AttributeFilter;
}

/** The tenancies that a tenancy is mutually confirmed with, by the uuid of the subject under which it knows them. */
export type Readers = ReadonlyMap<string, readonly string[]>;

/**
 * Returns what other tenancies lose when `before` is replaced by `after`, or deleted. A permission that `after` has
 * unchanged is lost only on assets that `after` no longer matches.
 */
export function endedGrants(before: AccessPolicy, after: AccessPolicy | undefined, readers: Readers): EndedGrant[] {
  const kept = new Set(after?.access_permissions.map((permission) => JSON.stringify(permission)));
  const sameAssets = after !== undefined && JSON.stringify(after.filters) === JSON.stringify(before.filters);
  return sharedGrants(before, readers).flatMap((ended) => {
    if (!after || !kept.has(JSON.stringify(ended.permission))) return [ended];
    return sameAssets ? [] : [{ ...ended, except: parsePolicyFilter(after.filters, POLICY_FILTER) }];
  });
}

/** Returns what a policy shows to other tenancies, one entry for each permission, subject and tenancy. */
export function sharedGrants(policy: AccessPolicy, readers: Readers): EndedGrant[] {
  const { tenantId, policyId } = policy;
  const filter = parsePolicyFilter(policy.filters, POLICY_FILTER);
  return policy.access_permissions.flatMap((permission) => {
    if (!shows(showingOf(permission))) return [];
    return [...new Set(permission.subjects.map(subjectIdOf))].flatMap((subjectId) =>
      (readers.get(subjectId) ?? []).map((readerTenantId) => ({
        tenantId,
        readerTenantId,
        subjectId,
        policyId,
        permission,
        filter,
      })),
    );
  });
}

function subjectIdOf(entry: string): string {
  return readSubject(entry).slice('subjects/'.length);
}
