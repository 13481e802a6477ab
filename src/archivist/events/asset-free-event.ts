import { z } from 'zod';
import type { AssetFreeRecord } from '../../core/event/asset-free-record.js';
import type { AssetFreeEventDocument } from '../../core/statement/event-document.js';
import type { EntryCommit } from '../../ledger/entry-proof.js';
import { plainText } from '../../platform/plain-text.js';
import { type Attributes, attributesSchema, sentAttributesSchema } from '../attributes.js';
import {
  confirmationStatus,
  confirmationStatusSchema,
  merklelogCommit,
  merklelogCommitSchema,
  neverWitnessed,
} from '../confirmation.js';

/** An event that belongs to trails instead of an asset; immutable. */
export interface AssetFreeEvent {
  readonly tenantId: string;
  readonly eventId: string;
  readonly attributes: Attributes;
  readonly trails: readonly string[];
  readonly eventType: string;
  readonly creatorIssuer: string;
  /** Subject of the principal that created it. */
  readonly createdBy: string;
  readonly createdAtMs: bigint;
}

/** The interface's limit for a create request. */
export const MAX_ASSET_FREE_BODY = 64 * 1024;

/** Body of `POST /archivist/v1/events`. Attributes are checked by `readAttributes`. */
export const createAssetFreeEventSchema = z.object({
  attributes: sentAttributesSchema.nullish(),
  trails: z.array(plainText(1024)).max(256).nullish(),
  event_type: plainText(1024).nullish(),
});
export type CreateAssetFreeEventBody = z.infer<typeof createAssetFreeEventSchema>;

/** An asset-free event in a response. */
export const assetFreeEventSchema = z.strictObject({
  identity: z.string(),
  attributes: attributesSchema,
  trails: z.array(z.string()),
  event_type: z.string(),
  origin_tenant: z.string(),
  created_by: z.string(),
  created_at: z.int().meta({ format: 'int64' }),
  confirmation_status: confirmationStatusSchema,
  merklelog_commit: merklelogCommitSchema,
});

export function assetFreeEventIdentity(event: { eventId: string }): string {
  return `events/${event.eventId}`;
}

/**
 * An asset-free event as the interface shows it: index "0" and no idtimestamp until it is in a log
 * (docs/design/interface.md#existing-clients).
 */
export function assetFreeEventResponse(
  event: AssetFreeEvent,
  commit: EntryCommit | undefined,
): Record<string, unknown> {
  return {
    identity: assetFreeEventIdentity(event),
    attributes: event.attributes,
    trails: event.trails,
    event_type: event.eventType,
    origin_tenant: `tenant/${event.tenantId}`,
    created_by: event.createdBy,
    created_at: Number(event.createdAtMs),
    confirmation_status: confirmationStatus(neverWitnessed(commit)),
    merklelog_commit: commit ? merklelogCommit(commit) : { index: '0', idtimestamp: '' },
  };
}

/** The immutable event inside a transparent statement. */
export function assetFreeEventDocument(event: AssetFreeEvent, commit: EntryCommit): AssetFreeEventDocument {
  return { ...assetFreeRecord(event), merklelog_commit: merklelogCommit(commit) };
}

/** What the event's entry in the private statement log covers. */
export function assetFreeRecord(event: AssetFreeEvent) {
  return {
    ...saltedFields(event),
    identity: assetFreeEventIdentity(event),
    attributes: event.attributes,
    trails: event.trails,
  } satisfies AssetFreeRecord;
}

/** The fields that the leaf covers through its salt, as text. */
export function saltedFields(event: AssetFreeEvent) {
  return {
    origin_tenant: `tenant/${event.tenantId}`,
    event_type: event.eventType,
    created_by: event.createdBy,
    created_at: event.createdAtMs.toString(),
  };
}
