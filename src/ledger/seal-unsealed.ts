import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { Tx } from '../platform/postgres/database.js';
import { leafEntries } from './leaf-entries.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { keyIdOf, logSigner } from './log-keys.js';
import { leasedLog, SEQUENCER, swapSeal } from './log-store.js';
import type { SealMemory } from './seal-memory.js';
import { checkLastSealObject, lastSealObject } from './seal-object.js';
import { insertPeakReceipts, insertSeal, peakReceipts } from './seal-store.js';
import { selfCheck } from './self-check.js';
import { type SignedState, signState } from './sign-state.js';
import { unsealedState } from './unsealed-state.js';

async function readUnsealed(tx: Tx, context: LedgerContext, memory: SealMemory, lease: LogState, keyId: string) {
  const log = await leasedLog(tx, lease);
  const state = await unsealedState(tx, context, memory, log);
  const { lastLeaf } = state;
  const known =
    log.structure === 'MMR_SHA256'
      ? await peakReceipts(tx, log, keyId, peakIndices(log.size))
      : new Map<bigint, Uint8Array>();
  const entry = (await leafEntries(tx, context, log, [lastLeaf])).get(lastLeaf.entryId);
  if (!entry) throw new LogInconsistent(`the entry of leaf ${lastLeaf.leafIndex} is gone`);
  return { log, state, known, leaf: entry.leaf(lastLeaf.idtimestamp, lastLeaf.timestampCommitted) };
}

async function storeSeal({ database }: LedgerContext, log: LogState, signed: SignedState): Promise<void> {
  await database.commitTogether(SEQUENCER, [
    swapSeal(log),
    ...insertPeakReceipts(log, signed.seal.keyId, signed.newPeakReceipts),
    ...insertSeal(log, signed.seal),
  ]);
}

/**
 * Seals what was committed without a seal: earlier versions did that in two transactions, and a crash may have ended
 * one of them in between. The state must extend the last seal in the database and the last one in the object store, or
 * nothing is signed. Resolves with the log as it is then; unchanged if there is nothing to seal.
 * @throws {LeaseLost} if this holder no longer holds the log
 * @throws {LogInconsistent} if the state does not extend what was signed or published before
 */
export async function sealUnsealed(context: LedgerContext, memory: SealMemory, lease: LogState): Promise<LogState> {
  if (lease.size === lease.sealedSize) return lease;
  const signer = logSigner(context, lease);
  const { log, state, known, leaf } = await context.database.inTransaction('system', (tx) =>
    readUnsealed(tx, context, memory, lease, keyIdOf(signer, lease)),
  );
  await checkLastSealObject(lastSealObject(context.objectStore, log), log, state.lastSeal);
  const signed = await signState(context, log, state.tree.peaks, known, signer, state.lastSeal);
  await selfCheck(context, log, state.tree, leaf, signed);
  await storeSeal(context, log, signed);
  return { ...log, sealNumber: signed.seal.sealNumber, sealedSize: signed.seal.size };
}
