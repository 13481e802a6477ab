import { decodeSign1, type Sign1 } from '../core/cose/sign1.js';
import { type Peak, peakOverLeaf } from '../core/mmr/peak-over-leaf.js';
import type { MmrProofForm } from '../core/receipt/mmr-receipt.js';
import type { Tx } from '../platform/postgres/database.js';
import { type SealedPlace, sealedPlaces, sealedPlacesUnder } from './entry-proof-store.js';
import { mmrEntryReceipts, rfc9162EntryReceipts } from './entry-receipt.js';
import type { LogRef } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { type CountedKeys, isRevoked } from './log-keys.js';
import { peakReceipts, signedRoots } from './seal-store.js';

/**
 * The seals from which receipts are made: the first one over each entry, or the first one by a key that counts, if the key
 * of that one was revoked. Where there is no such seal yet, the revoked key's stays: an older proof may still hold it up.
 */
async function provingPlaces(
  tx: Tx,
  log: LogRef,
  entryIds: readonly string[],
  keys: CountedKeys,
): Promise<SealedPlace[]> {
  const first = await sealedPlaces(tx, log, entryIds);
  const worthless = first.filter(({ keyId }) => isRevoked(keys, keyId)).map(({ entryId }) => entryId);
  if (worthless.length === 0) return first;
  const later = await sealedPlacesUnder(tx, log, worthless, keys.valid);
  const byEntry = new Map(later.map((place) => [place.entryId, place]));
  return first.map((place) => byEntry.get(place.entryId) ?? place);
}

/**
 * The receipt of an entry in an RFC 9162 log, from the first published root that covers it and whose key counts; undefined
 * until then.
 */
export async function statementReceipt(
  tx: Tx,
  log: LogRef,
  entryId: string,
  keys: CountedKeys,
): Promise<Uint8Array | undefined> {
  return (await statementReceipts(tx, log, [entryId], keys)).get(entryId);
}

/**
 * Receipts of many entries, by entry id, in three queries regardless of their number; entries without a root are left
 * out.
 */
export async function statementReceipts(
  tx: Tx,
  log: LogRef,
  entryIds: readonly string[],
  keys: CountedKeys,
): Promise<Map<string, Uint8Array>> {
  const entries = await provingPlaces(tx, log, entryIds, keys);
  if (entries.length === 0) return new Map();
  const signed = await signedRoots(tx, log, [...new Set(entries.map(({ sealNumber }) => sealNumber))]);
  const wanted = entries.map(({ leafIndex, leaves, sealNumber }) => {
    const signedRoot = signed.get(sealNumber);
    if (!signedRoot) throw new LogInconsistent(`seal ${sealNumber} is not stored`);
    return { leafIndex, leaves, signedRoot };
  });
  const receipts = await rfc9162EntryReceipts(tx, log, wanted);
  return new Map(entries.map(({ entryId }, place) => [entryId, receipts[place]!]));
}

/**
 * The receipt of an entry in an MMR log, from the first published seal that covers it and whose key counts, and the peak
 * signature stored with that seal: the same bytes until the key is revoked. Undefined until such a seal is published.
 */
export async function mmrReceipt(
  tx: Tx,
  log: LogRef,
  entryId: string,
  form: MmrProofForm,
  keys: CountedKeys,
): Promise<Uint8Array | undefined> {
  return (await mmrReceipts(tx, log, [entryId], form, keys)).get(entryId);
}

/**
 * Receipts of many entries, by entry id, in a few queries regardless of their number; entries without a seal are left
 * out.
 */
export async function mmrReceipts(
  tx: Tx,
  log: LogRef,
  entryIds: readonly string[],
  form: MmrProofForm,
  keys: CountedKeys,
): Promise<Map<string, Uint8Array>> {
  const places = await provingPlaces(tx, log, entryIds, keys);
  if (places.length === 0) return new Map();
  const entries = places.map((place) => ({ ...place, peak: peakOverLeaf(place.leaves, place.leafIndex) }));
  const signed = await signedPeaks(tx, log, entries);
  const wanted = entries.map(({ leafIndex, keyId, peak }) => {
    const signedPeak = signed.get(keyId)?.get(peak.index);
    if (!signedPeak) throw new LogInconsistent(`the signature over peak ${peak.index} is not stored`);
    return { leafIndex, peak, signedPeak };
  });
  const receipts = await mmrEntryReceipts(tx, log, wanted, form);
  return new Map(entries.map(({ entryId }, place) => [entryId, receipts[place]!]));
}

/** The signatures over the peaks above the entries, by key and node index of the peak. */
async function signedPeaks(
  tx: Tx,
  log: LogRef,
  entries: readonly { readonly keyId: string; readonly peak: Peak }[],
): Promise<Map<string, Map<bigint, Sign1>>> {
  const wanted = new Map<string, Set<bigint>>();
  for (const { keyId, peak } of entries) wanted.set(keyId, (wanted.get(keyId) ?? new Set()).add(peak.index));
  const signed = new Map<string, Map<bigint, Sign1>>();
  for (const [keyId, peaks] of wanted) {
    const receipts = await peakReceipts(tx, log, keyId, [...peaks]);
    signed.set(keyId, new Map([...receipts].map(([peak, receipt]) => [peak, decodeSign1(receipt)])));
  }
  return signed;
}
