import type { Principal } from '../../platform/http/principal.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { type Filters, readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { requireManager } from '../tenancies/require-manager.js';
import { inviteResponse } from './invite.js';
import { findInvite, inviteRows } from './invite-store.js';
import { noSuchInvite } from './write-invite.js';

const READERS = 'Only Owners may read the invites of a tenancy.';

export interface ReadInviteDeps {
  readonly database: Database;
  readonly pageTokens: PageTokens;
}

/** One invite that is pending or has expired. @throws {ApiError} forbidden, not_found */
export async function readInvite(
  deps: ReadInviteDeps,
  principal: Principal,
  inviteId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, READERS);
  const invite = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    findInvite(tx, tenantId, inviteId),
  );
  if (!invite) throw noSuchInvite();
  return inviteResponse(invite);
}

/** A page of the tenancy's invites, newest first or by address. @throws {ApiError} forbidden */
export function listInvites(
  deps: ReadInviteDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireManager(principal, READERS);
  const list = `invites ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('i.tenant_id = ?', tenantId), ...inviteConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = inviteRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    return { ...page, entries: page.entries.map(inviteResponse) };
  });
}

function inviteConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    if (parameter !== 'email') throw noSuchFilter(parameter, ['email', 'order_by']);
    requirePlain(value, parameter);
    return condition('i.email = ?', value);
  });
}
