import type { Signer } from '../core/cose/signature.js';
import { EPOCH, idtimestampMs } from '../core/massif/idtimestamp.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import { peakReceipt } from '../core/receipt/mmr-receipt.js';
import { signRoot } from '../core/receipt/rfc9162-receipt.js';
import { createSeal, SEAL_VERSION } from '../core/receipt/seal.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { keyIdOf, logName } from './log-keys.js';
import type { SealRow } from './seal-store.js';
import { treeRoot } from './tree-root.js';

/** A seal that is signed but not yet stored. */
export interface SignedState {
  readonly seal: SealRow;
  /** Signatures over peaks that had no signature by this key, by node index; empty for RFC 9162. */
  readonly newPeakReceipts: ReadonlyMap<bigint, Uint8Array>;
  /** All of the state's peak receipts, left to right; empty for RFC 9162. */
  readonly peakReceipts: readonly Uint8Array[];
}

async function signPeaks(
  context: LedgerContext,
  log: LogState,
  peaks: readonly Uint8Array[],
  known: ReadonlyMap<bigint, Uint8Array>,
  signer: Signer,
): Promise<Pick<SignedState, 'newPeakReceipts' | 'peakReceipts'>> {
  const newPeakReceipts = new Map<bigint, Uint8Array>();
  const peakReceipts: Uint8Array[] = [];
  for (const [position, index] of peakIndices(log.size).entries()) {
    let receipt = known.get(index);
    if (!receipt) {
      receipt = await peakReceipt(peaks[position]!, signer, logName(context, log));
      newPeakReceipts.set(index, receipt);
    }
    peakReceipts.push(receipt);
  }
  return { newPeakReceipts, peakReceipts };
}

/**
 * Signs a log's state: for an MMR the seal and each peak that has no signature by this key yet; for RFC 9162 the root,
 * once. Does not check whether the state may be signed: the caller must. The seal is dated no earlier than the last one and
 * than its newest leaf, whatever the clock does: verifiers take such dates for a contradiction.
 * @param last the seal before it
 */
export async function signState(
  context: LedgerContext,
  log: LogState,
  peaks: readonly Uint8Array[],
  knownPeakReceipts: ReadonlyMap<bigint, Uint8Array>,
  signer: Signer,
  last: SealRow | undefined,
): Promise<SignedState> {
  const sealedAtMs = Math.max(context.clock.now(), idtimestampMs(log.lastIdtimestamp), Number(last?.sealedAtMs ?? 0n));
  const row = {
    sealNumber: log.sealNumber + 1n,
    size: log.size,
    leaves: log.leaves,
    keyId: keyIdOf(signer, log),
    sealedAtMs: BigInt(sealedAtMs),
    root: treeRoot(log.structure, peaks),
  };
  const name = logName(context, log);
  if (log.structure === 'RFC9162_SHA256')
    return {
      seal: { ...row, signed: await signRoot(row.root, log.leaves, signer, name) },
      newPeakReceipts: new Map(),
      peakReceipts: [],
    };
  const receipts = await signPeaks(context, log, peaks, knownPeakReceipts, signer);
  const state = { size: log.size, sealedAtMs, idtimestamp: log.lastIdtimestamp, epoch: EPOCH, version: SEAL_VERSION };
  return { seal: { ...row, signed: await createSeal(state, peaks, signer, name, receipts.peakReceipts) }, ...receipts };
}
