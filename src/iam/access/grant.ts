import { type AttributeFilter, parsePolicyFilter } from '../../filter/attribute-filter.js';
import { type AccessPermission, type AccessPolicy, POLICY_FILTER } from './access-policy.js';
import { type PrincipalKey, readSubject, readUserAttribute } from './principal-key.js';

/** Names that a permission lists; `*` in the list stands for every name. */
type Names = 'all' | ReadonlySet<string>;

/** What one permission of a policy shows of an asset. */
export interface Showing {
  readonly attributesRead: Names;
  /** Kinds of events, by their `arc_display_type`. */
  readonly kindsRead: Names;
  /** Behaviours that the principal sees; in a grant, also those that it may record with. */
  readonly behaviours: Names;
}

/** What one permission of a policy grants to the principal that it names, on the assets that the policy matches. */
export interface Grant extends Showing {
  /** Tenancy of the assets. */
  readonly tenantId: string;
  readonly filter: AttributeFilter;
  readonly attributesWritten: Names;
  readonly kindsRecorded: Names;
}

/** A permission without behaviours means the behaviour of ordinary events. */
const DEFAULT_BEHAVIOUR = 'RecordEvidence';

/**
 * What these policies of one tenancy grant to a principal with these keys. Policies grant to people of the tenancy
 * whose keys match every `user_attributes` list, and to organisations that `subjects` names; to no others.
 */
export function grantsOf(policies: readonly AccessPolicy[], keys: ReadonlySet<PrincipalKey>): Grant[] {
  return policies.flatMap((policy) => {
    const permissions = policy.access_permissions.filter((permission) => names(permission, keys));
    if (permissions.length === 0) return [];
    const filter = parsePolicyFilter(policy.filters, POLICY_FILTER);
    return permissions.map((permission) => grantOf(policy.tenantId, filter, permission));
  });
}

function names(permission: AccessPermission, keys: ReadonlySet<PrincipalKey>): boolean {
  const { subjects, user_attributes: lists } = permission;
  if (subjects.some((subject) => keys.has(readSubject(subject)))) return true;
  return lists.length > 0 && lists.every(({ or }) => or.some((entry) => keys.has(readUserAttribute(entry))));
}

function grantOf(tenantId: string, filter: AttributeFilter, permission: AccessPermission): Grant {
  return {
    ...showingOf(permission),
    tenantId,
    filter,
    attributesWritten: listed(permission.asset_attributes_write),
    kindsRecorded: listed(permission.event_arc_display_type_write),
  };
}

/** What a permission shows of the assets that its policy matches. */
export function showingOf(permission: AccessPermission): Showing {
  const { behaviours } = permission;
  return {
    attributesRead: listed([...permission.asset_attributes_read, ...permission.include_attributes]),
    kindsRead: listed(permission.event_arc_display_type_read),
    behaviours: listed(behaviours.length === 0 ? [DEFAULT_BEHAVIOUR] : behaviours),
  };
}

function listed(entries: readonly string[]): Names {
  return entries.includes('*') ? 'all' : new Set(entries);
}

export function has(names: Names, name: string): boolean {
  return names === 'all' || names.has(name);
}

export function isEmpty(names: Names): boolean {
  return names !== 'all' && names.size === 0;
}

/** True if it shows anything of an asset; a grant that only permits recording shows nothing. */
export function shows(showing: Showing): boolean {
  return !isEmpty(showing.attributesRead) || !isEmpty(showing.kindsRead);
}
