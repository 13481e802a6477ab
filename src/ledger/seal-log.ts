import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { keyIdOf, logSigner } from './log-keys.js';
import { boundIdleTime, leasedLog, swapSeal } from './log-store.js';
import { checkLastSealObject } from './seal-object.js';
import { insertPeakReceipts, insertSeal, peakReceipts } from './seal-store.js';
import { selfCheck } from './self-check.js';
import { type SignedState, signState } from './sign-state.js';
import { unsealedState } from './unsealed-state.js';

async function readUnsealed(tx: Tx, context: LedgerContext, lease: LogState, keyId: string) {
  const log = await leasedLog(tx, lease);
  const state = await unsealedState(tx, context, log);
  const known =
    log.structure === 'MMR_SHA256'
      ? await peakReceipts(tx, log, keyId, peakIndices(log.size))
      : new Map<bigint, Uint8Array>();
  return { log, state, known };
}

async function storeSeal(tx: Tx, context: LedgerContext, log: LogState, signed: SignedState): Promise<void> {
  await boundIdleTime(tx);
  await swapSeal(tx, log);
  await insertPeakReceipts(tx, log, signed.seal.keyId, signed.newPeakReceipts);
  await insertSeal(tx, log, signed.seal);
  await context.failpoints.reach('seal.inside');
}

/**
 * Seals what was committed since the last seal, after that seal is published. The new state must extend the last seal
 * in the database and the last one in the object store, or nothing is signed (docs/design/README.md#one-operation).
 * Signing happens outside any transaction; the seal is stored only if the log has not changed since it was read.
 * Resolves with the log as it is then; unchanged if there is nothing to seal.
 * @throws {LeaseLost} if this holder no longer holds the log
 * @throws {LogInconsistent} if the state does not extend what was signed or published before
 */
export async function sealLog(context: LedgerContext, lease: LogState): Promise<LogState> {
  if (lease.size === lease.sealedSize) return lease;
  await context.failpoints.reach('seal.before');
  const signer = logSigner(context, lease);
  const { log, state, known } = await context.database.inTransaction('system', (tx) =>
    readUnsealed(tx, context, lease, keyIdOf(signer)),
  );
  await checkLastSealObject(context.objectStore, log, state.lastSeal);
  const signed = await signState(context, log, state.peaks, known, signer);
  await context.failpoints.reach('seal.signed');
  await context.database.inTransaction('system', (tx) => selfCheck(tx, context, log, state, signed));
  await context.database.inTransaction('system', (tx) => storeSeal(tx, context, log, signed));
  await context.failpoints.reach('seal.after');
  return { ...log, sealNumber: signed.seal.sealNumber, sealedSize: signed.seal.size };
}
