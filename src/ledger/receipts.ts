import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { MmrProofForm } from '../core/receipt/mmr-receipt.js';
import type { Tx } from '../platform/postgres/database.js';
import { type PlacedEntry, placedEntries } from './entry-proof-store.js';
import { mmrEntryReceipt, peakPosition, rfc9162EntryReceipt } from './entry-receipt.js';
import type { LogRef } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { findSeal, peakReceipts } from './seal-store.js';

export { statementBytes } from './statement-store.js';

type PublishedEntry = PlacedEntry & Required<Pick<PlacedEntry, 'seal'>>;

async function publishedEntry(tx: Tx, log: LogRef, entryId: string): Promise<PublishedEntry | undefined> {
  const [placed] = await placedEntries(tx, log, [entryId]);
  return placed?.seal && { ...placed, seal: placed.seal };
}

/**
 * The receipt of an entry in an MMR log, from the first published seal that covers it and the peak signature stored with
 * that seal: the same bytes for ever, no key in use. Undefined until such a seal is published.
 */
export async function mmrReceipt(
  tx: Tx,
  log: LogRef,
  entryId: string,
  form: MmrProofForm,
): Promise<Uint8Array | undefined> {
  const entry = await publishedEntry(tx, log, entryId);
  if (!entry) return undefined;
  const { size, leaves, keyId } = entry.seal;
  const place = { leafIndex: entry.leafIndex, size, leaves };
  const peak = peakIndices(size)[peakPosition(place)]!;
  const signedPeak = (await peakReceipts(tx, log, keyId, [peak])).get(peak);
  if (!signedPeak) throw new LogInconsistent(`the signature over peak ${peak} is not stored`);
  return mmrEntryReceipt(tx, log, place, signedPeak, form);
}

/** The receipt of an entry in an RFC 9162 log, from the first published root that covers it; undefined until then. */
export async function statementReceipt(tx: Tx, log: LogRef, entryId: string): Promise<Uint8Array | undefined> {
  const entry = await publishedEntry(tx, log, entryId);
  if (!entry) return undefined;
  const { sealNumber, size, leaves } = entry.seal;
  const seal = await findSeal(tx, log, sealNumber);
  if (!seal) throw new LogInconsistent(`seal ${sealNumber} is not stored`);
  return rfc9162EntryReceipt(tx, log, { leafIndex: entry.leafIndex, size, leaves }, seal.signed);
}
