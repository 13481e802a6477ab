import { commits } from '../../ledger/entry-proof.js';
import { tenancyLog } from '../../ledger/log.js';
import { assetFreeEventSubmission } from '../create/create-asset-free-event.js';
import { assetFreeEventResponse, createAssetFreeEventSchema, MAX_ASSET_FREE_BODY } from '../events/asset-free-event.js';
import { findAssetFreeEvents } from '../events/asset-free-event-store.js';
import { readsAssetFreeEvent } from '../events/read-asset-free-event.js';
import type { BulkKind } from './accept-bulk.js';
import { readBulkItem } from './bulk.js';

/** Asset-free events in bulk. An `idempotency_key` equals the Idempotency-Key header of a separate create request. */
export const assetFreeEventBulk: BulkKind = {
  submission(principal, value) {
    const item = readBulkItem(value, MAX_ASSET_FREE_BODY);
    return assetFreeEventSubmission({
      principal,
      body: createAssetFreeEventSchema.parse(item.body),
      rawBody: item.rawBody,
      idempotencyKey: item.idempotencyKey,
      path: '/archivist/v1/events',
    });
  },
  shown(accepted) {
    if (accepted.kind !== 'asset_free_event') throw new TypeError('an event was answered with another kind');
    return assetFreeEventResponse(accepted.event, undefined);
  },
  async earlier(tx, principal, ids) {
    const { tenantId } = principal;
    const events = await findAssetFreeEvents(
      tx,
      ids.map((eventId) => ({ tenantId, eventId })),
    );
    const known = await commits(tx, tenancyLog(tenantId), 'asset_free_event', ids);
    const readable = events.filter((event) => readsAssetFreeEvent(principal, event));
    return new Map(readable.map((event) => [event.eventId, assetFreeEventResponse(event, known.get(event.eventId))]));
  },
};
