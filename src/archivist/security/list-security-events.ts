import { permits } from '../../iam/access/permits.js';
import { commits } from '../../ledger/entry-proof.js';
import { tenancyLog } from '../../ledger/log.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { type AssetFreeEvent, assetFreeEventResponse } from '../events/asset-free-event.js';
import { countAssetFreeEvents, listAssetFreeEvents } from '../events/asset-free-event-store.js';
import { securityEventConditions } from './security-event-filter-store.js';

export interface ListSecurityEventsDeps {
  readonly database: Database;
  readonly pageTokens: PageTokens;
}

/**
 * Lists a page of the tenancy's security audit, newest first. Each entry is the asset-free event that its log commits
 * to.
 * @throws {ApiError} forbidden unless the caller is an Owner, bad_request for an unknown filter
 */
export function listSecurityEvents(
  deps: ListSecurityEventsDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  if (!permits(principal, 'manage', { kind: 'tenancy', tenantId }))
    throw new ApiError('forbidden', 'Only Owners may read the security audit.');
  const list = `security events ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = securityEventConditions(tenantId, query.filters);
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = {
      idColumn: 'e.event_id',
      idOf: ({ eventId }: AssetFreeEvent) => eventId,
      list: (all: readonly Condition[], limit: number) => listAssetFreeEvents(tx, all, limit),
      count: (all: readonly Condition[], limit?: number) => countAssetFreeEvents(tx, all, limit),
      order: 'newest' as const,
    };
    const { exactTotal } = request;
    const tokens = deps.pageTokens;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens });
    const ids = page.entries.map(({ eventId }) => eventId);
    const committed = await commits(tx, tenancyLog(tenantId), 'asset_free_event', ids);
    return {
      ...page,
      entries: page.entries.map((event) => assetFreeEventResponse(event, committed.get(event.eventId))),
    };
  });
}
