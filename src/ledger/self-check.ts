import { decodeSign1 } from '../core/cose/sign1.js';
import { VerificationError } from '../core/errors.js';
import { pathBelowPeak } from '../core/mmr/inclusion-proof-path.js';
import { mmrIndex } from '../core/mmr/leaf-count.js';
import { peakOverLeaf } from '../core/mmr/peak-over-leaf.js';
import { attachInclusion } from '../core/receipt/mmr-receipt.js';
import { attachRfc9162Inclusion, readRfc9162Receipt } from '../core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionPath } from '../core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162RootFromInclusion } from '../core/rfc9162/rfc9162-root-from-inclusion.js';
import { verifyMmrReceipt, verifyReceiptSignature } from '../core/verify/verify-receipt.js';
import { verifySeal } from '../core/verify/verify-seal.js';
import type { GrownTree } from './grown-tree.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { ownTrust } from './log-keys.js';
import type { SignedState } from './sign-state.js';

async function verifyAsAnyoneWould(
  context: LedgerContext,
  log: LogState,
  tree: GrownTree,
  leaf: Uint8Array,
  signed: SignedState,
): Promise<void> {
  const leafIndex = log.leaves - 1n;
  const trust = ownTrust(context, log);
  if (log.structure === 'MMR_SHA256') {
    await verifySeal(signed.seal.signed, tree.peaks, trust);
    // The last peak is above the last leaf.
    const signedPeak = decodeSign1(signed.peakReceipts.at(-1)!);
    const path = pathBelowPeak(peakOverLeaf(log.leaves, leafIndex), mmrIndex(leafIndex)).map(tree.nodeAt);
    const receipt = attachInclusion(signedPeak, mmrIndex(leafIndex), path, 'draft');
    await verifyMmrReceipt(receipt, leaf, { ...trust, mmrIndex: mmrIndex(leafIndex) });
    return;
  }
  const path = rfc9162InclusionPath(leafIndex, log.leaves, tree.nodeAt);
  const receipt = readRfc9162Receipt(attachRfc9162Inclusion(signed.seal.signed, log.leaves, leafIndex, path));
  const root = rfc9162RootFromInclusion(leaf, receipt.leafIndex, receipt.treeSize, receipt.path);
  await verifyReceiptSignature(receipt, root, trust, 'the statement-log receipt');
}

/**
 * Proves the last leaf, derived again from its entry, against a new seal with the code that verifiers run. A seal that
 * fails is never stored.
 * @param log as the seal signs it
 * @throws {LogInconsistent}
 */
export async function selfCheck(
  context: LedgerContext,
  log: LogState,
  tree: GrownTree,
  leaf: Uint8Array,
  signed: SignedState,
): Promise<void> {
  try {
    await verifyAsAnyoneWould(context, log, tree, leaf, signed);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new LogInconsistent(`a new seal does not prove its last leaf: ${error.message}`);
  }
}
