import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { bencode } from '../event/bencode.js';
import type { AssetEventDocument } from '../statement/event-document.js';
import { type ReceiptTrust, verifyReceipt } from './verify-receipt.js';

/** What a public asset says of itself, as far as its events prove it. */
export interface PublicAssetDocument {
  /** `publicassets/<uuid>`. */
  readonly identity: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An event in its public form, and its receipt from the public log. */
export interface PublicEvent {
  readonly event: AssetEventDocument;
  readonly receipt: Uint8Array;
}

function mismatch(why: string): VerificationError {
  return new VerificationError('event_mismatch', why);
}

function checkHistory({ identity }: PublicAssetDocument, events: readonly PublicEvent[]): void {
  let before = -1n;
  for (const { event } of events) {
    if (!event.identity.startsWith(`${identity}/events/`))
      throw mismatch(`${event.identity} is not an event of ${identity}`);
    const index = BigInt(event.merklelog_entry.commit.index);
    if (index <= before) throw mismatch(`the events are not in the log's order at node ${index}`);
    before = index;
  }
  if (events[0]?.event.operation !== 'NewAsset') throw mismatch(`the first event did not create ${identity}`);
}

function encoded(attributes: Readonly<Record<string, unknown>>): Uint8Array {
  try {
    return bencode(attributes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw mismatch(`no event makes such attributes: ${error.message}`);
  }
}

/**
 * Checks a public asset: each of its events, in log order, has a receipt of the public log (pin it with `trust.log`), and
 * together they make the attributes that the asset shows. That no event was left out at the end cannot be shown by
 * receipts; one left out before would show in the attributes only if it changed them.
 * @throws {VerificationError} `event_mismatch`, and those of any receipt
 */
export async function verifyPublicAsset(
  asset: PublicAssetDocument,
  events: readonly PublicEvent[],
  trust: ReceiptTrust,
): Promise<void> {
  checkHistory(asset, events);
  for (const { event, receipt } of events) await verifyReceipt(receipt, { event }, trust);
  const attributes = Object.fromEntries(events.flatMap(({ event }) => Object.entries(event.asset_attributes ?? {})));
  if (!equalBytes(encoded(asset.attributes), encoded(attributes)))
    throw mismatch('the attributes of the asset are not what its events made of them');
}
