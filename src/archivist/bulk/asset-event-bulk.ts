import { readAccess } from '../../iam/access/read-access.js';
import { ApiError } from '../../platform/errors.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { assetEventSubmission } from '../create/create-asset-event.js';
import { assetEventResponse, createAssetEventSchema } from '../events/asset-event.js';
import { findAssetEvents } from '../events/asset-event-store.js';
import { readableEvents, shownEvents } from '../events/read-asset-events.js';
import type { BulkKind } from './accept-bulk.js';
import { readBulkItem } from './bulk.js';

const MAX_EVENT_BODY = 1024 * 1024;

/**
 * Asset events in bulk. An `idempotency_key` equals the Idempotency-Key header of a separate create request.
 * @param assetId the asset of every event; undefined when each event names its own in `asset_identity`
 */
export function assetEventBulk(assetId: string | undefined): BulkKind {
  return {
    submission(principal, value) {
      const item = readBulkItem(value, MAX_EVENT_BODY);
      const asset = assetOf(item.assetIdentity, assetId);
      return assetEventSubmission(asset, {
        principal,
        body: createAssetEventSchema.parse(item.body),
        rawBody: item.rawBody,
        idempotencyKey: item.idempotencyKey,
        path: `/archivist/v2/assets/${asset}/events`,
      });
    },
    shown(accepted) {
      if (accepted.kind !== 'asset_event') throw new TypeError('an event was answered with another kind');
      return assetEventResponse(accepted.event, undefined);
    },
    async earlier(tx, principal, ids) {
      const { tenantId } = principal;
      const events = await findAssetEvents(
        tx,
        ids.map((eventId) => ({ tenantId, eventId })),
      );
      const readable = await readableEvents(tx, await readAccess(tx, principal), events);
      const shown = await shownEvents(tx, readable);
      return new Map(readable.map((event, place) => [event.eventId, shown[place]!]));
    },
  };
}

function assetOf(identity: string | undefined, ofPath: string | undefined): string {
  const named = identity?.startsWith('assets/')
    ? uuidSchema.safeParse(identity.slice('assets/'.length)).data
    : undefined;
  if (identity !== undefined && named === undefined)
    throw new ApiError('bad_request', 'asset_identity: must be assets/<uuid>');
  if (ofPath === undefined && named === undefined) throw new ApiError('bad_request', 'asset_identity: is missing');
  if (ofPath !== undefined && named !== undefined && named !== ofPath)
    throw new ApiError('bad_request', 'asset_identity: is not the asset of the path');
  return (named ?? ofPath)!;
}
