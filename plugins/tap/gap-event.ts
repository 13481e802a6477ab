import { createHash } from 'node:crypto';
import { TEMPLATE_VERSION } from '../../src/core/statement/vcon-template.js';
import type { Observation } from '../operation/capture-sequence.js';
import { DRAFT_VERSIONS, type OperationEvent, uuidOfDigest } from '../operation/operation-event.js';
import type { CaptureGaps } from './capture-gaps.js';

/** The operation name of a gap in the log. */
export const GAP_OPERATION = 'vcon_capture_gap';

/** The content of a gap record. */
export interface GapRecord {
  /** In UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly egress_list: string;
  /** vCons that left without an event in the service. */
  readonly left_without_event: readonly string[];
  /** vCons that left and that only the conserver's stock link recorded. */
  readonly left_with_stock_event: readonly string[];
  /** vCons that left and that only another link recorded. */
  readonly left_with_other_event: readonly string[];
  /** vCons that were captured and never left. */
  readonly event_without_leaving: readonly string[];
}

/** An event may have 64 KiB. */
const MOST_VCONS = 1_000;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The records of a day's gaps as JSON, each short enough for one event; empty when nothing is missing. */
export function gapDocuments(day: string, list: string, gaps: CaptureGaps): string[] {
  const all = [
    ...gaps.leftWithoutEvent.map((uuid) => ['left', uuid] as const),
    ...gaps.leftWithStockEvent.map((uuid) => ['stock', uuid] as const),
    ...gaps.leftWithOtherEvent.map((uuid) => ['other', uuid] as const),
    ...gaps.eventWithoutLeaving.map((uuid) => ['captured', uuid] as const),
  ];
  const documents: string[] = [];
  for (let from = 0; from < all.length; from += MOST_VCONS) {
    const part = all.slice(from, from + MOST_VCONS);
    const of = (kind: string) => part.flatMap(([each, uuid]) => (each === kind ? [uuid] : []));
    const record: GapRecord = {
      day,
      egress_list: list,
      left_without_event: of('left'),
      left_with_stock_event: of('stock'),
      left_with_other_event: of('other'),
      event_without_leaving: of('captured'),
    };
    documents.push(JSON.stringify(record));
  }
  return documents;
}

/** All vCons of a gap record. */
export function vconsOf(record: GapRecord): string[] {
  const { left_without_event, left_with_stock_event, left_with_other_event, event_without_leaving } = record;
  // A record of an earlier version has fewer kinds.
  return [left_without_event, left_with_stock_event ?? [], left_with_other_event ?? [], event_without_leaving].flat();
}

/** The payload of a gap record: the digest of its document. */
export function gapPayload(document: string): string {
  return sha256(document);
}

/**
 * The event of a gap record. All records of one tap are on one asset. The payload is the digest of the record, which
 * the event contains, so that the signed statement covers it.
 */
export function gapEvent(list: string, day: string, document: string, observed: Observation): OperationEvent {
  const subject = `vcon://${uuidOfDigest(sha256(`capture gaps of ${list}`))}`;
  const payload = gapPayload(document);
  const at = new Date(observed.atMs).toISOString();
  const attributes = {
    arc_display_type: GAP_OPERATION,
    conserver_link_version: TEMPLATE_VERSION,
    payload,
    payload_hash_alg: 'SHA-256',
    payload_preimage_content_type: 'application/json',
    subject,
    timestamp_declared: at,
    timestamp_declared_source: 'observed',
    vcon_operation: GAP_OPERATION,
    ...DRAFT_VERSIONS,
    gap_day: day,
    gap_document: document,
    capture_method: 'tap',
    capture_sequence: observed.sequence,
  };
  return { subject, payload, timestampDeclared: at, attributes };
}
