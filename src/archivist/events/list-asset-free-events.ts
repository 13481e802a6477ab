import { visibilityOf } from '../../iam/access/permits.js';
import { commits } from '../../ledger/entry-proof.js';
import { tenancyLog } from '../../ledger/log.js';
import type { Principal } from '../../platform/http/principal.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import { keepPlans } from '../../platform/postgres/kept-plans.js';
import { progressConditions } from '../listing/progress-conditions.js';
import { type ListDeps, readScope } from '../read-scope.js';
import { type AssetFreeEvent, assetFreeEventResponse } from './asset-free-event.js';
import { ASSET_FREE_ENTRY, assetFreeConditions, visibleAssetFreeEvents } from './asset-free-event-filter-store.js';
import { countAssetFreeEvents, listAssetFreeEvents } from './asset-free-event-store.js';

/** Lists a page of the asset-free events that the principal may read, newest first. */
export function listOwnAssetFreeEvents(
  deps: ListDeps,
  principal: Principal,
  request: { readonly query: Readonly<Record<string, unknown>>; readonly exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId, issuer, subject } = principal;
  const list = `asset-free events ${tenantId} ${issuer} ${subject}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [
    ...visibleAssetFreeEvents(tenantId, visibilityOf(principal)),
    ...assetFreeConditions(query.filters),
  ];
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    const page = await listPage(
      {
        idColumn: 'e.event_id',
        idOf: (event: AssetFreeEvent) => event.eventId,
        order: 'newest',
        list: (all, limit) => listAssetFreeEvents(tx, all, limit),
        count: (all, limit) => countAssetFreeEvents(tx, all, limit),
      },
      {
        list,
        query,
        conditions: [...conditions, ...(await progressConditions(tx, tenantId, ASSET_FREE_ENTRY, query.filters))],
        exactTotal: request.exactTotal,
        tokens: deps.pageTokens,
      },
    );
    const ids = page.entries.map(({ eventId }) => eventId);
    const [, committed] = await Promise.all([
      keepPlans(tx),
      commits(tx, tenancyLog(tenantId), 'asset_free_event', ids),
    ]);
    return {
      ...page,
      entries: page.entries.map((event) => assetFreeEventResponse(event, committed.get(event.eventId))),
    };
  });
}
