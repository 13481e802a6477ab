import { decodeSign1, type Sign1 } from '../core/cose/sign1.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { MmrProofForm } from '../core/receipt/mmr-receipt.js';
import { attachRfc9162Inclusion } from '../core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionNodes, rfc9162InclusionPath } from '../core/rfc9162/rfc9162-inclusion-path.js';
import type { Tx } from '../platform/postgres/database.js';
import { type PlacedEntry, placedEntries } from './entry-proof-store.js';
import { mmrEntryReceipts, peakPosition, rfc9162EntryReceipt } from './entry-receipt.js';
import type { LogRef } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { readNodes } from './node-page-store.js';
import { findSeal, peakReceipts } from './seal-store.js';

/**
 * Receipts of entries of an RFC 9162 log, by entry id, with a few queries however many they are; the same bytes as
 * `statementReceipt` gives out. An entry that no published root covers yet is left out.
 */
export async function statementReceipts(
  tx: Tx,
  log: LogRef,
  entryIds: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const placed = await placedEntries(tx, log, entryIds);
  const entries = placed.flatMap(({ entryId, leafIndex, seal }) => (seal ? [{ entryId, leafIndex, seal }] : []));
  const signed = new Map<bigint, Uint8Array>();
  for (const number of new Set(entries.map(({ seal }) => seal.sealNumber))) {
    const seal = await findSeal(tx, log, number);
    if (!seal) throw new LogInconsistent(`seal ${number} is not stored`);
    signed.set(number, seal.signed);
  }
  const nodes = entries.flatMap(({ leafIndex, seal }) => rfc9162InclusionNodes(leafIndex, seal.leaves));
  const nodeAt = await readNodes(tx, log, nodes);
  return new Map(
    entries.map(({ entryId, leafIndex, seal: { sealNumber, leaves } }) => {
      const path = rfc9162InclusionPath(leafIndex, leaves, nodeAt);
      return [entryId, attachRfc9162Inclusion(signed.get(sealNumber)!, leaves, leafIndex, path)];
    }),
  );
}

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
  return (await mmrReceipts(tx, log, [entryId], form)).get(entryId);
}

/** The same of many entries, by entry, in three queries whatever their number; those without a seal are left out. */
export async function mmrReceipts(
  tx: Tx,
  log: LogRef,
  entryIds: readonly string[],
  form: MmrProofForm,
): Promise<Map<string, Uint8Array>> {
  const entries = (await placedEntries(tx, log, entryIds)).flatMap(({ entryId, leafIndex, seal }) => {
    if (!seal) return [];
    const place = { leafIndex, size: seal.size, leaves: seal.leaves };
    return [{ entryId, keyId: seal.keyId, place, peak: peakIndices(seal.size)[peakPosition(place)]! }];
  });
  const signed = new Map<string, Sign1>();
  for (const keyId of new Set(entries.map((entry) => entry.keyId))) {
    const peaks = new Set(entries.filter((entry) => entry.keyId === keyId).map(({ peak }) => peak));
    for (const [peak, receipt] of await peakReceipts(tx, log, keyId, [...peaks]))
      signed.set(`${keyId} ${peak}`, decodeSign1(receipt));
  }
  const wanted = entries.map(({ keyId, peak, place }) => {
    const signedPeak = signed.get(`${keyId} ${peak}`);
    if (!signedPeak) throw new LogInconsistent(`the signature over peak ${peak} is not stored`);
    return { place, signedPeak };
  });
  const receipts = await mmrEntryReceipts(tx, log, wanted, form);
  return new Map(entries.map(({ entryId }, index) => [entryId, receipts[index]!]));
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
