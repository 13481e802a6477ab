import { permits } from '../../iam/access/permits.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type ReadDeps, readByIdScope } from '../read-scope.js';
import { type AssetFreeEvent, assetFreeEventResponse } from './asset-free-event.js';
import { findAssetFreeEvents } from './asset-free-event-store.js';
import { commitOf } from './read-asset-events.js';

/** Returns an asset-free event that this principal may read. @throws {ApiError} not_found */
export async function requireAssetFreeEvent(tx: Tx, principal: Principal, eventId: string): Promise<AssetFreeEvent> {
  const { tenantId } = principal;
  const [event] = await findAssetFreeEvents(tx, [{ tenantId, eventId }]);
  if (!event || !readsAssetFreeEvent(principal, event)) throw new ApiError('not_found', 'There is no such event.');
  return event;
}

/** True if this principal may read the event. */
export function readsAssetFreeEvent(principal: Principal, event: AssetFreeEvent): boolean {
  const { tenantId, creatorIssuer, createdBy: creatorSubject } = event;
  return permits(principal, 'read', { kind: 'asset_free_event', tenantId, creatorIssuer, creatorSubject });
}

export function readAssetFreeEvent(
  deps: ReadDeps,
  principal: Principal,
  eventId: string,
): Promise<Record<string, unknown>> {
  return deps.database.inTransaction(readByIdScope(deps.deployment, principal.tenantId), async (tx) => {
    const event = await requireAssetFreeEvent(tx, principal, eventId);
    return assetFreeEventResponse(event, await commitOf(tx, 'asset_free_event', event));
  });
}
