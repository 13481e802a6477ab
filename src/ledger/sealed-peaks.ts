import { equalBytes } from '../core/bytes.js';
import { decodeSign1 } from '../core/cose/sign1.js';
import { VerificationError } from '../core/errors.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import { readLogClaims } from '../core/receipt/log-claims.js';
import { verifyReceiptSignature } from '../core/verify/verify-receipt.js';
import { verifySeal } from '../core/verify/verify-seal.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LedgerContext } from './ledger-context.js';
import { type LogState, nameAt } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { ownTrust } from './log-keys.js';
import { readNodes } from './node-page-store.js';
import type { SealMemory } from './seal-memory.js';
import { findSeal, type SealRow } from './seal-store.js';
import { treeRoot } from './tree-root.js';

/** The last state that the log signed, and its peaks as the node pages have them now. */
interface SealedState {
  /** undefined before the first seal. */
  readonly seal: SealRow | undefined;
  readonly peaks: readonly Uint8Array[];
}

async function verifySignedState(context: LedgerContext, log: LogState, seal: SealRow, peaks: readonly Uint8Array[]) {
  const trust = ownTrust(context, log, nameAt(log, seal.sealNumber));
  if (log.structure === 'MMR_SHA256') {
    const { state } = await verifySeal(seal.signed, peaks, trust);
    if (state.size !== seal.size) throw new LogInconsistent(`seal ${seal.sealNumber} is stored under another size`);
    return;
  }
  const sign1 = decodeSign1(seal.signed);
  await verifyReceiptSignature({ sign1, ...readLogClaims(sign1.protectedHeader) }, seal.root, trust, 'the root');
}

/**
 * Reads the peaks of the last seal from the pages and checks that they are the signed ones. A flipped bit is found
 * here, before new nodes are built on it.
 * @throws {LogInconsistent}
 */
export async function sealedState(
  tx: Tx,
  context: LedgerContext,
  memory: SealMemory,
  log: LogState,
): Promise<SealedState> {
  if (log.sealNumber === 0n) {
    if (log.sealedSize !== 0n) throw new LogInconsistent('the log has a sealed size and no seal');
    return { seal: undefined, peaks: [] };
  }
  const indices = peakIndices(log.sealedSize);
  const [seal, nodeAt] = await Promise.all([findSeal(tx, log, log.sealNumber), readNodes(tx, log, indices)]);
  if (seal?.size !== log.sealedSize)
    throw new LogInconsistent(`seal ${log.sealNumber} is not the one that was swapped in`);
  const peaks = indices.map(nodeAt);
  await checkSigned(context, memory, log, seal, peaks);
  return { seal, peaks };
}

async function checkSigned(
  context: LedgerContext,
  memory: SealMemory,
  log: LogState,
  seal: SealRow,
  peaks: readonly Uint8Array[],
): Promise<void> {
  if (!equalBytes(treeRoot(log.structure, peaks), seal.root))
    throw new LogInconsistent(`the stored nodes do not hash up to the root of seal ${seal.sealNumber}`);
  if (memory.knows(log, seal.signed, peaks)) return;
  try {
    await verifySignedState(context, log, seal, peaks);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new LogInconsistent(`seal ${seal.sealNumber} does not verify over the stored nodes: ${error.message}`);
  }
  memory.remember(log, seal.signed, peaks);
}
