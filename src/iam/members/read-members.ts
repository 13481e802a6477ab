import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { type Filters, RESULT_LIMIT, readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { requireManager } from '../tenancies/require-manager.js';
import { memberIdentity, memberResponse } from './member.js';
import { listMembershipRows, memberRows } from './member-store.js';

export interface ReadMemberDeps {
  readonly database: Database;
  readonly pageTokens: PageTokens;
}

const STATES: Readonly<Record<string, readonly Condition[]>> = {
  MEMBER_STATE_UNSPECIFIED: [condition('m.active')],
  MEMBER_STATE_ACTIVE: [condition('m.active')],
  MEMBER_STATE_INACTIVE: [condition('NOT m.active')],
  MEMBER_STATE_BOTH: [],
};

/** The values that `member_state` accepts. */
export const MEMBER_STATES: readonly string[] = Object.keys(STATES);

/** A page of the tenancy's members, newest first; active ones unless the query says otherwise. @throws {ApiError} forbidden */
export function listMembers(
  deps: ReadMemberDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireManager(principal, 'Only Owners may read the members of a tenancy.');
  const list = `members ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('m.tenant_id = ?', tenantId), ...memberConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = memberRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    return { ...page, entries: page.entries.map(memberResponse) };
  });
}

/**
 * Tenancies that the caller is a member of (docs/design/interface.md#members-and-invites). An application is not a
 * member of any tenancy.
 */
export async function listMemberships(
  deps: { readonly database: Database },
  principal: Principal,
): Promise<Record<string, unknown>[]> {
  const memberships = await deps.database.inTransaction('system', (tx) =>
    listMembershipRows(tx, principal, RESULT_LIMIT),
  );
  return memberships.map((each) => ({
    identity: memberIdentity(each.memberId),
    tenant_id: `tenancies/${each.tenantId}`,
    display_name: each.tenancyName,
  }));
}

function memberConditions(filters: Filters): readonly Condition[] {
  const states = filters.map(([name, value]) => {
    if (name !== 'member_state') throw noSuchFilter(name, ['member_state']);
    const state = Object.hasOwn(STATES, value) ? STATES[value] : undefined;
    if (!state) throw new ApiError('bad_request', `member_state: must be one of ${MEMBER_STATES.join(', ')}`);
    return state;
  });
  return (states.length === 0 ? [STATES['MEMBER_STATE_ACTIVE']!] : states).flat();
}
