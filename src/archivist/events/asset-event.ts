import { z } from 'zod';
import type { V3Event } from '../../core/event/v3-event.js';
import type { AssetEventDocument } from '../../core/statement/event-document.js';
import type { EntryCommit } from '../../ledger/entry-proof.js';
import { plainText } from '../../platform/plain-text.js';
import { timestampSchema } from '../../platform/timestamps.js';
import type { AssetForm } from '../assets/asset.js';
import { type Attributes, attributesSchema, sentAttributesSchema } from '../attributes.js';
import {
  confirmationStatus,
  confirmationStatusSchema,
  merklelogCommit,
  merklelogEntry,
  merklelogEntrySchema,
  timestampCommitted,
} from '../confirmation.js';
import {
  BLANK_PRINCIPAL,
  type PrincipalRecord,
  principalRecordSchema,
  shownPrincipalSchema,
} from '../principal-record.js';
import { hexData } from '../quantity.js';
import type { EventTransaction } from './event-transaction-store.js';

/** One event of an asset in one tenancy; immutable. An event of a public asset has a second row, its public form. */
export interface AssetEvent {
  readonly tenantId: string;
  readonly eventId: string;
  readonly assetId: string;
  readonly originTenantId: string;
  readonly operation: string;
  readonly behaviour: string;
  readonly eventAttributes: Attributes;
  readonly assetAttributes: Attributes;
  readonly principalDeclared: PrincipalRecord;
  readonly principalAccepted: PrincipalRecord;
  readonly timestampDeclared: string;
  readonly timestampAccepted: string;
  readonly acceptedAt: Date;
  readonly fromAddress: string;
  /** Set only if the caller may not see all changes to the asset: then no signed evidence can be shown. */
  readonly redacted?: true;
}

/** The form of a public asset's event that anybody may read, which the public tenancy keeps. */
export function publicFormOf(event: AssetEvent, publicTenancy: string): AssetEvent {
  return {
    tenantId: publicTenancy,
    eventId: event.eventId,
    assetId: event.assetId,
    originTenantId: event.originTenantId,
    operation: event.operation,
    behaviour: event.behaviour,
    eventAttributes: event.eventAttributes,
    assetAttributes: event.assetAttributes,
    principalDeclared: BLANK_PRINCIPAL,
    principalAccepted: BLANK_PRINCIPAL,
    timestampDeclared: event.timestampDeclared,
    timestampAccepted: event.timestampAccepted,
    acceptedAt: event.acceptedAt,
    fromAddress: event.fromAddress,
  };
}

/** Operations that a caller may send, each with its behaviour. */
export const OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['Record', 'RecordEvidence'],
  ['StartTracking', 'Builtin'],
  ['StopTracking', 'Builtin'],
]);

/** Body of `POST /archivist/v2/assets/{uuid}/events`. Attributes are checked by `readAttributes`. */
export const createAssetEventSchema = z.object({
  operation: plainText(4096).meta({ enum: [...OPERATIONS.keys()] }),
  behaviour: plainText(4096).meta({ enum: [...new Set(OPERATIONS.values())] }),
  event_attributes: sentAttributesSchema.nullish(),
  asset_attributes: sentAttributesSchema.nullish(),
  principal_declared: principalRecordSchema.nullish(),
  timestamp_declared: plainText(64).meta({ format: 'date-time' }).nullish(),
});
export type CreateAssetEventBody = z.infer<typeof createAssetEventSchema>;

/** An asset event in a response. */
export const assetEventSchema = z.strictObject({
  identity: z.string(),
  asset_identity: z.string(),
  event_attributes: attributesSchema,
  asset_attributes: attributesSchema,
  operation: z.string(),
  behaviour: z.string(),
  timestamp_declared: timestampSchema,
  timestamp_accepted: timestampSchema,
  timestamp_committed: timestampSchema,
  principal_declared: shownPrincipalSchema,
  principal_accepted: shownPrincipalSchema,
  confirmation_status: confirmationStatusSchema,
  transaction_id: z.string(),
  block_number: z.int(),
  transaction_index: z.int(),
  from: z.string(),
  tenant_identity: z.string(),
  merklelog_entry: merklelogEntrySchema,
});

export function assetEventIdentity(event: { assetId: string; eventId: string }, form: AssetForm = 'assets'): string {
  return `${form}/${event.assetId}/events/${event.eventId}`;
}

/** The eleven hashed fields as they are served in this form; the log supplies `timestampCommitted`. */
export function v3EventOf(event: AssetEvent, committed: string, form: AssetForm = 'assets'): V3Event {
  return {
    identity: assetEventIdentity(event, form),
    event_attributes: event.eventAttributes,
    asset_attributes: event.assetAttributes,
    operation: event.operation,
    behaviour: event.behaviour,
    timestamp_declared: event.timestampDeclared,
    timestamp_accepted: event.timestampAccepted,
    timestamp_committed: committed,
    principal_declared: event.principalDeclared,
    principal_accepted: event.principalAccepted,
    tenant_identity: `tenant/${event.originTenantId}`,
  };
}

/**
 * An asset event as the interface shows it: the hashed fields are exactly those served. Without a transaction it is in
 * no block yet.
 */
export function assetEventResponse(
  event: AssetEvent,
  commit: EntryCommit | undefined,
  form: AssetForm = 'assets',
  transaction?: EventTransaction,
): Record<string, unknown> {
  // Member by member: in measurements, spreading the hashed fields into it cost three times as much as the rest of the
  // function.
  return {
    identity: assetEventIdentity(event, form),
    asset_identity: `${form}/${event.assetId}`,
    event_attributes: event.eventAttributes,
    asset_attributes: event.assetAttributes,
    operation: event.operation,
    behaviour: event.behaviour,
    timestamp_declared: event.timestampDeclared,
    timestamp_accepted: event.timestampAccepted,
    timestamp_committed: timestampCommitted(commit),
    principal_declared: event.principalDeclared,
    principal_accepted: event.principalAccepted,
    tenant_identity: `tenant/${event.originTenantId}`,
    confirmation_status: confirmationStatus(commit),
    transaction_id: transaction ? hexData(transaction.hash) : '',
    block_number: Number(transaction?.blockNumber ?? 0n),
    transaction_index: transaction?.transactionIndex ?? 0,
    from: event.fromAddress,
    merklelog_entry: merklelogEntry(commit),
  };
}

/** The immutable event inside a transparent statement. */
export function assetEventDocument(
  event: AssetEvent,
  commit: EntryCommit,
  form: AssetForm = 'assets',
): AssetEventDocument {
  return { ...v3EventOf(event, commit.timestampCommitted, form), merklelog_entry: { commit: merklelogCommit(commit) } };
}
