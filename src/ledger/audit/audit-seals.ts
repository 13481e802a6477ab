import { equalBytes } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { decodeSign1 } from '../../core/cose/sign1.js';
import { VerificationError } from '../../core/errors.js';
import { firstName, generationName } from '../../core/fork/log-generation.js';
import { mmrIndex, sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { peakOverLeaf } from '../../core/mmr/peak-over-leaf.js';
import { peaks as peakIndices } from '../../core/mmr/peaks.js';
import { readLogClaims } from '../../core/receipt/log-claims.js';
import { readSeal } from '../../core/receipt/seal.js';
import { verifyMmrReceipt, verifyReceiptSignature } from '../../core/verify/verify-receipt.js';
import { verifySeal } from '../../core/verify/verify-seal.js';
import { mmrEntryReceipt } from '../entry-receipt.js';
import { generationAt, type LogState, nameAt } from '../log.js';
import { ownTrust, sealKeyId } from '../log-keys.js';
import { readNodes } from '../node-page-store.js';
import { sealObjectBytes, sealObjectKey } from '../seal-object.js';
import { peakReceipts, type SealRow } from '../seal-store.js';
import { treeRoot } from '../tree-root.js';
import type { AuditContext } from './audit-context.js';
import type { DerivedState } from './audit-frontier.js';
import { storedPeakReceipts } from './audit-store.js';

const PAGE = 500;

/** Trusts the log's keys under the name that it had when it made a seal. */
const sealTrust = (context: AuditContext, log: LogState, { sealNumber }: SealRow) =>
  ownTrust(context, log, nameAt(log, sealNumber));

/** The name in a signature over a peak: the id of its key tells the generation. */
function peakName(log: LogState, keyId: string): string {
  return generationName({ base: firstName(log.name), generation: Number(keyId.split('.')[1] ?? 0) });
}

/** Checks one seal against the state that the entries make at its size. */
export async function auditSeal(
  context: AuditContext,
  log: LogState,
  seal: SealRow,
  derived: DerivedState,
): Promise<void> {
  const name = `seal ${seal.sealNumber}`;
  const fault = (what: string) => context.fault(log.name, `${name}: ${what}`);
  if (seal.size !== derived.size) {
    fault(`covers ${seal.size} nodes, but ${seal.leaves} leaves give ${derived.size}`);
    return;
  }
  if (!equalBytes(seal.root, treeRoot(log.structure, derived.peaks)))
    fault('has a different root than its entries give');
  try {
    if (log.structure === 'MMR_SHA256') await auditMmrSeal(context, log, seal, derived);
    else await auditSignedRoot(context, log, seal, derived);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    fault(error.message);
  }
  const kept = await context.objectStore.get(sealObjectKey(log, seal.sealNumber));
  const published = seal.sealNumber <= log.publishedNumber;
  if (published && !kept) fault('is published, but not in the object store');
  if (kept && !equalBytes(kept, sealObjectBytes(log.structure, seal)))
    fault('differs from the one in the object store');
}

async function auditMmrSeal(context: AuditContext, log: LogState, seal: SealRow, derived: DerivedState): Promise<void> {
  const read = await verifySeal(seal.signed, derived.peaks, sealTrust(context, log, seal));
  const { size, idtimestamp, sealedAtMs } = readSeal(seal.signed).state;
  const same = size === seal.size && idtimestamp === derived.lastIdtimestamp && BigInt(sealedAtMs) === seal.sealedAtMs;
  if (!same) throw new VerificationError('seal_signature_invalid', 'its row differs from what is signed');
  const receipts = await context.database.inTransaction('system', (tx) =>
    peakReceipts(tx, log, seal.keyId, peakIndices(seal.size)),
  );
  for (const [place, index] of peakIndices(seal.size).entries()) {
    const carried = read.peakReceipts[place];
    const stored = receipts.get(index);
    if (!carried || !stored || !equalBytes(carried, stored))
      throw new VerificationError('receipt_missing', `the signature over peak ${index} is not the one that is stored`);
  }
}

async function auditSignedRoot(
  context: AuditContext,
  log: LogState,
  seal: SealRow,
  derived: DerivedState,
): Promise<void> {
  const sign1 = decodeSign1(seal.signed);
  const claims = readLogClaims(sign1.protectedHeader);
  const root = treeRoot(log.structure, derived.peaks);
  const key = await verifyReceiptSignature(
    { sign1, ...claims },
    root,
    sealTrust(context, log, seal),
    'the signed root',
  );
  if (sealKeyId(keyThumbprint(key), generationAt(log, seal.sealNumber)) !== seal.keyId)
    throw new VerificationError('seal_signature_invalid', 'its row names a different key than the one that signed');
}

/** Checks every stored signature over a peak, also those that no seal in the database refers to any more. */
export async function auditPeakReceipts(context: AuditContext, log: LogState): Promise<void> {
  for (let after = { nodeIndex: -1n, keyId: '' }; ; ) {
    const rows = await context.database.inTransaction('system', async (tx) => {
      const stored = await storedPeakReceipts(tx, log, after, PAGE);
      const nodeAt = await readNodes(
        tx,
        log,
        stored.map(({ nodeIndex }) => nodeIndex),
      );
      return stored.map((row) => ({ ...row, node: nodeAt(row.nodeIndex) }));
    });
    for (const { nodeIndex, keyId, receipt, node } of rows) {
      try {
        const sign1 = decodeSign1(receipt);
        const claims = readLogClaims(sign1.protectedHeader);
        const trust = ownTrust(context, log, peakName(log, keyId));
        await verifyReceiptSignature({ sign1, ...claims }, node, trust, `peak ${nodeIndex}`);
      } catch (error) {
        if (!(error instanceof VerificationError)) throw error;
        context.fault(log.name, `the signature over peak ${nodeIndex} by key ${keyId}: ${error.message}`);
      }
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!;
  }
}

/** The receipt of the last leaf under an MMR seal, as clients get it, must prove the leaf. */
export async function auditReceipt(
  context: AuditContext,
  log: LogState,
  seal: SealRow,
  leaf: Uint8Array,
): Promise<void> {
  if (log.structure !== 'MMR_SHA256' || seal.size !== sizeOfLeaves(seal.leaves)) return;
  const leafIndex = seal.leaves - 1n;
  const place = { leafIndex, leaves: seal.leaves };
  try {
    const receipt = await context.database.inTransaction('system', async (tx) => {
      const peak = peakOverLeaf(seal.leaves, leafIndex).index;
      const signed = (await peakReceipts(tx, log, seal.keyId, [peak])).get(peak);
      return signed && mmrEntryReceipt(tx, log, place, signed, 'draft');
    });
    if (!receipt) throw new VerificationError('receipt_missing', 'a part of it is missing');
    await verifyMmrReceipt(receipt, leaf, { ...sealTrust(context, log, seal), mmrIndex: mmrIndex(leafIndex) });
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    context.fault(log.name, `the receipt of leaf ${leafIndex}: ${error.message}`);
  }
}
