import { RLP } from '@ethereumjs/rlp';
import { z } from 'zod';
import { toHex } from '../../core/bytes.js';
import { timestampOf } from '../../platform/timestamps.js';

/** How the events of a window are hashed: version 2 uses identities as they are served (simple hash, schema 2). */
export const HASH_SCHEMA_VERSION = 2;

/** The hash over the SIMPLE_HASH events that a tenancy accepted from `start` until before `end`. */
export interface Anchor {
  readonly tenantId: string;
  readonly number: bigint;
  readonly start: Date;
  readonly end: Date;
  readonly hashSchemaVersion: number;
  readonly hash: Uint8Array;
  readonly eventCount: bigint;
}

/** Where an anchor's events are listed: the tenancy's own events for its Owners, or public forms for everybody. */
type AnchorView = { readonly publicUrl: string; readonly form: 'assets' | 'publicassets' };

/** The query whose result hashes to the anchor; the stock verifier adds its page size. */
function anchorQuery(anchor: Anchor, { publicUrl, form }: AnchorView): string {
  const filters = [
    `order_by=SIMPLEHASHV${anchor.hashSchemaVersion}`,
    'proof_mechanism=SIMPLE_HASH',
    `timestamp_accepted_since=${timestampOf(anchor.start.getTime())}`,
    `timestamp_accepted_before=${timestampOf(anchor.end.getTime())}`,
  ];
  return `${publicUrl}/archivist/v2/${form}/-/events?${filters.join('&')}`;
}

/** The input of the anchor's transaction: RLP of kind, schema version, start and end as RFC 3339, count and hash. */
export function anchorInput(anchor: Anchor): Uint8Array {
  return RLP.encode([
    'SIMPLE_HASH',
    anchor.hashSchemaVersion,
    timestampOf(anchor.start.getTime()),
    timestampOf(anchor.end.getTime()),
    anchor.eventCount,
    anchor.hash,
  ]);
}

export const simpleHashDetailsSchema = z.strictObject({
  api_query: z.string(),
  start_time: z.string(),
  end_time: z.string(),
  hash_schema_version: z.int(),
  anchor_hash: z.string(),
  event_count: z.int(),
});

export function simpleHashDetails(anchor: Anchor, view: AnchorView): z.infer<typeof simpleHashDetailsSchema> {
  return {
    api_query: anchorQuery(anchor, view),
    start_time: timestampOf(anchor.start.getTime()),
    end_time: timestampOf(anchor.end.getTime()),
    hash_schema_version: anchor.hashSchemaVersion,
    anchor_hash: toHex(anchor.hash),
    event_count: Number(anchor.eventCount),
  };
}
