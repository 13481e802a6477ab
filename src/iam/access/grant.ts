import { type AttributeFilter, parsePolicyFilter } from '../../filter/attribute-filter.js';
import { inPieces } from '../../platform/in-pieces.js';
import { type AccessPermission, type AccessPolicy, POLICY_FILTER } from './access-policy.js';
import { type PrincipalKey, readSubject, readUserAttribute } from './principal-key.js';

/** Names that a permission lists; `*` in the list stands for every name. */
export type Names = 'all' | ReadonlySet<string>;

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
 * What these policies grant to a principal. Policies grant to people of the tenancy whose keys match every
 * `user_attributes` list, and to organisations that `subjects` names; to no others. Equal filters are one object.
 * @param keys of the principal in the tenancy of a policy
 */
export async function grantsOf(
  policies: readonly AccessPolicy[],
  keys: (tenantId: string) => ReadonlySet<PrincipalKey>,
): Promise<Grant[]> {
  const filters = new Map<string, AttributeFilter>();
  const filterOf = (policy: AccessPolicy): AttributeFilter => {
    const text = JSON.stringify(policy.filters);
    const filter = filters.get(text) ?? parsePolicyFilter(policy.filters, POLICY_FILTER);
    filters.set(text, filter);
    return filter;
  };
  const granted = await inPieces(policies, (policy) => {
    const own = keys(policy.tenantId);
    const permissions = policy.access_permissions.filter((permission) => names(permission, own));
    if (permissions.length === 0) return [];
    const filter = filterOf(policy);
    return permissions.map((permission) => grantOf(policy.tenantId, filter, permission));
  });
  return granted.flat();
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

/** Returns the names that are in at least one of these. */
export function union(all: readonly Names[]): Names {
  const found = new Set<string>();
  for (const names of all) {
    if (names === 'all') return 'all';
    for (const name of names) found.add(name);
  }
  return found;
}

export function isEmpty(names: Names): boolean {
  return names !== 'all' && names.size === 0;
}

/** True if it shows anything of an asset; a grant that only permits recording shows nothing. */
export function shows(showing: Showing): boolean {
  return !isEmpty(showing.attributesRead) || !isEmpty(showing.kindsRead);
}
