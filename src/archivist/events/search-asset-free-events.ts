import { z } from 'zod';
import { parseSearchFilter } from '../../filter/odata.js';
import { visibilityOf } from '../../iam/access/permits.js';
import { commits } from '../../ledger/entry-proof.js';
import { tenancyLog } from '../../ledger/log.js';
import { orDecimalText } from '../../platform/decimal-text.js';
import type { Principal } from '../../platform/http/principal.js';
import { readFilter } from '../listing/read-filter.js';
import { type ReadDeps, readScope } from '../read-scope.js';
import { assetFreeEventResponse, assetFreeEventSchema } from './asset-free-event.js';
import { findAssetFreeEvents } from './asset-free-event-store.js';
import { countPlaces, type LedgerPlace, searchPlaces } from './search-store.js';

/** The interface's maximum of `top`; larger values are reduced to it. */
const MAX_TOP = 50;
const MAX_SKIP = 1_000_000;

/** Body of `POST /archivist/v1/events/search`. */
export const searchSchema = z.object({
  filter: z.string().max(8192).nullish(),
  top: orDecimalText(z.number().int().min(0)).nullish(),
  skip: orDecimalText(z.number().int().min(0).max(MAX_SKIP)).nullish(),
});

/** An event that a search found, with its position in the log. */
export const foundEventSchema = assetFreeEventSchema.extend({
  ledger_entry: z.strictObject({
    index: z.string(),
    idtimestamp: z.string(),
    content_hash: z.string(),
    hash_schema: z.literal('v0'),
    log_id: z.string(),
  }),
});

/** A page of a search in a response. */
export const searchResultSchema = z.strictObject({ events: z.array(foundEventSchema) });

/**
 * Returns one page of a search and the total number of hits. @throws {ApiError} bad_request with the position in the
 * filter
 */
export function searchAssetFreeEvents(
  deps: ReadDeps,
  principal: Principal,
  body: z.infer<typeof searchSchema>,
): Promise<{ events: Record<string, unknown>[]; total: number }> {
  const { tenantId } = principal;
  const text = body.filter ?? '';
  const filter = text.trim() === '' ? undefined : readFilter(() => parseSearchFilter(text));
  const search = { tenantId, visibility: visibilityOf(principal), filter };
  const page = { top: Math.min(body.top ?? MAX_TOP, MAX_TOP), skip: body.skip ?? 0 };
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    const places = await searchPlaces(tx, search, page);
    const ids = places.map(({ eventId }) => eventId);
    const found = await findAssetFreeEvents(
      tx,
      ids.map((eventId) => ({ tenantId, eventId })),
    );
    const events = new Map(found.map((event) => [event.eventId, event]));
    const committed = await commits(tx, tenancyLog(tenantId), 'asset_free_event', ids);
    return {
      events: places.map((place) => ({
        ...assetFreeEventResponse(events.get(place.eventId)!, committed.get(place.eventId)),
        ledger_entry: ledgerEntry(place, tenantId),
      })),
      total: await countPlaces(tx, search),
    };
  });
}

function ledgerEntry(place: LedgerPlace, tenantId: string): Record<string, string> {
  return {
    index: String(place.mmrIndex ?? 0n),
    idtimestamp: place.idtimestamp ?? '',
    content_hash: place.contentHash ?? '',
    hash_schema: 'v0',
    log_id: tenantId,
  };
}
