import { appendTo } from '../append-to.js';
import { equalBytes, toHex } from '../bytes.js';
import { DataStructure } from '../cose/labels.js';
import { VerificationError } from '../errors.js';
import { readMmrReceipt } from '../receipt/mmr-receipt.js';
import { receiptStructure } from '../receipt/receipt-proof.js';
import { readRfc9162Receipt } from '../receipt/rfc9162-receipt.js';
import { rfc9162Leaf } from '../rfc9162/rfc9162-leaf.js';
import type { InclusionProof } from '../verify/claim.js';
import { openReceiptHeaders } from '../verify/proofs.js';
import type { ExpectedLog, LogTrust } from '../verify/trust.js';
import { checked, type Findings, failure, missing, notCovered } from '../verify/verdict.js';
import { checkEventLog, eventCommit, eventLeaf } from '../verify/verify-event.js';
import { verifyMmrReceipt, verifyRfc9162Receipt } from '../verify/verify-receipt.js';
import { leafOf } from './event-agreement.js';
import type { EvidenceFile } from './evidence-file.js';
import type { GivenEvent } from './given-event.js';

/** Keys and pins for single receipts. */
interface ReceiptKeys extends Pick<LogTrust, 'logKeys' | 'verifySignature'> {
  readonly statementLog: ExpectedLog;
  readonly tenancyLog: ExpectedLog;
}

/** A statement that a receipt may belong to, and what its receipts proved. */
export interface GivenEntry {
  readonly piece: string;
  /** As a statement log commits to it. */
  readonly entry: Uint8Array;
  readonly proofs: InclusionProof[];
}

/**
 * Finds the statement or event of each receipt, and adds the proof to it and to its copies. A receipt that matches none of them is refused.
 * If no statement or event was given, the receipt is unproven.
 */
export async function matchReceipts(
  receipts: readonly EvidenceFile[],
  entries: readonly GivenEntry[],
  events: readonly GivenEvent[],
  keys: ReceiptKeys,
): Promise<Partial<Findings>[]> {
  const found: Partial<Findings>[] = [];
  const byIndex = new Map<bigint, GivenEvent[]>();
  for (const event of events) appendTo(byIndex, BigInt(eventCommit(event.event).index), event);
  // Each try costs a signature. Statements and receipts mostly come in one order: the search goes on behind the last hit.
  const order = [...entries];
  const likely = await entriesByNeighbours(receipts, entries);
  for (const file of receipts) {
    const { path, bytes } = file;
    const { proven: structure, failed } = await checked(path, () => receiptStructure(bytes));
    if (failed) found.push(failed);
    else if (structure === DataStructure.rfc9162Sha256) found.push(await ofStatement(file, order, likely, keys));
    else found.push(await ofEvent(file, events, byIndex, keys));
  }
  return found;
}

/**
 * The entries that are probably at these indices: a path begins with the leaf beside its own, so that receipts of neighbours
 * name the leaves of each other.
 */
async function entriesByNeighbours(
  receipts: readonly EvidenceFile[],
  entries: readonly GivenEntry[],
): Promise<ReadonlyMap<bigint, GivenEntry>> {
  const byLeaf = new Map(entries.map((each) => [toHex(rfc9162Leaf(each.entry)), each]));
  const likely = new Map<bigint, GivenEntry>();
  for (const { path, bytes } of receipts) {
    const { proven } = await checked(path, () => readRfc9162Receipt(bytes));
    const beside = proven?.path[0] && byLeaf.get(toHex(proven.path[0]));
    if (beside) likely.set(proven.leafIndex ^ 1n, beside);
  }
  return likely;
}

async function ofStatement(
  file: EvidenceFile,
  entries: GivenEntry[],
  likely: ReadonlyMap<bigint, GivenEntry>,
  { logKeys, verifySignature, statementLog: log }: ReceiptKeys,
): Promise<Partial<Findings>> {
  const { path, bytes } = file;
  const { proven, failed } = await checked(path, () => readRfc9162Receipt(bytes));
  if (failed) return failed;
  const first = likely.get(proven.leafIndex);
  return firstOf(file, first ? [first, ...entries] : [...entries], 'statement', async ({ entry }) => {
    const { proof } = await verifyRfc9162Receipt(bytes, entry, { logKeys, verifySignature, log });
    while (entries.at(-1)!.entry !== entry) entries.push(entries.shift()!);
    for (const copy of entries) if (equalBytes(copy.entry, entry)) copy.proofs.push(proof);
  });
}

async function ofEvent(
  file: EvidenceFile,
  events: readonly GivenEvent[],
  byIndex: ReadonlyMap<bigint, readonly GivenEvent[]>,
  { logKeys, verifySignature, tenancyLog: log }: ReceiptKeys,
): Promise<Partial<Findings>> {
  const { path, bytes } = file;
  const { proven: receipt, failed } = await checked(path, () => readMmrReceipt(bytes));
  if (failed) return failed;
  const there = byIndex.get(receipt.index) ?? [];
  return firstOf(file, there.length > 0 ? there : events, 'event', async ({ event }) => {
    const { leaf, mmrIndex } = eventLeaf(event);
    const proven = await verifyMmrReceipt(bytes, leaf, { logKeys, verifySignature, log, mmrIndex });
    checkEventLog(proven, event);
    // All of `there` have the index of the receipt: with the same leaf and identity, they are copies of this event.
    for (const copy of there)
      if (copy.event.identity === event.identity && leafOf(copy.event) === proven.proof.leaf)
        copy.proofs.push(proven.proof);
  });
}

async function firstOf<Candidate>(
  { path, bytes }: EvidenceFile,
  candidates: readonly Candidate[],
  what: 'statement' | 'event',
  check: (candidate: Candidate) => Promise<void>,
): Promise<Partial<Findings>> {
  let refusal: VerificationError | undefined;
  for (const candidate of candidates)
    try {
      await check(candidate);
      return openReceiptHeaders(path, bytes);
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      refusal ??= error;
    }
  if (refusal) return failure(path, refusal);
  const gap = missing(what, `${path} is a receipt for ${what === 'event' ? 'an event' : 'a statement'}: give it too`);
  return { ...gap, ...notCovered(path, 'unproven', 'the statement or event of this receipt was not given') };
}
