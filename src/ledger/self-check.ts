import { VerificationError } from '../core/errors.js';
import { mmrIndex } from '../core/mmr/leaf-count.js';
import { readRfc9162Receipt } from '../core/receipt/rfc9162-receipt.js';
import { rfc9162RootFromInclusion } from '../core/rfc9162/rfc9162-root-from-inclusion.js';
import { verifyMmrReceipt, verifyReceiptSignature } from '../core/verify/verify-receipt.js';
import { verifySeal } from '../core/verify/verify-seal.js';
import type { Tx } from '../platform/postgres/database.js';
import { mmrEntryReceipt, peakPosition, rfc9162EntryReceipts } from './entry-receipt.js';
import { leafEntries } from './leaf-entries.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { ownTrust } from './log-keys.js';
import type { SignedState } from './sign-state.js';
import type { UnsealedState } from './unsealed-state.js';

async function verifyAsAnyoneWould(
  tx: Tx,
  context: LedgerContext,
  log: LogState,
  state: UnsealedState,
  signed: SignedState,
): Promise<void> {
  const { leafIndex, entryId, idtimestamp, timestampCommitted } = state.lastLeaf;
  const entry = (await leafEntries(tx, context, log, [state.lastLeaf])).get(entryId);
  if (!entry) throw new LogInconsistent(`the entry of leaf ${leafIndex} is gone`);
  const leaf = entry.leaf(idtimestamp, timestampCommitted);
  const place = { leafIndex, leaves: log.leaves };
  const trust = ownTrust(context, log);
  if (log.structure === 'MMR_SHA256') {
    await verifySeal(signed.seal.signed, state.peaks, trust);
    const signedPeak = signed.peakReceipts[peakPosition(place)]!;
    const receipt = await mmrEntryReceipt(tx, log, place, signedPeak, 'draft');
    await verifyMmrReceipt(receipt, leaf, { ...trust, mmrIndex: mmrIndex(leafIndex) });
    return;
  }
  const [stored] = await rfc9162EntryReceipts(tx, log, [{ ...place, signedRoot: signed.seal.signed }]);
  const receipt = readRfc9162Receipt(stored!);
  const root = rfc9162RootFromInclusion(leaf, receipt.leafIndex, receipt.treeSize, receipt.path);
  await verifyReceiptSignature(receipt, root, trust, 'the statement-log receipt');
}

/**
 * Proves the last leaf, derived again from its entry, against a new seal with the code that verifiers run. A seal that
 * fails is never stored.
 * @throws {LogInconsistent}
 */
export async function selfCheck(
  tx: Tx,
  context: LedgerContext,
  log: LogState,
  state: UnsealedState,
  signed: SignedState,
): Promise<void> {
  try {
    await verifyAsAnyoneWould(tx, context, log, state, signed);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new LogInconsistent(`a new seal does not prove its last leaf: ${error.message}`);
  }
}
