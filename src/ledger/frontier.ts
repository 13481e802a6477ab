import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { keyIdOf, logSigner } from './log-keys.js';
import { readOpenPage } from './node-page-store.js';
import type { SealMemory } from './seal-memory.js';
import { peakReceipts, type SealRow } from './seal-store.js';
import { sealedState } from './sealed-peaks.js';

/** A sealed log with everything that its next batch builds on. */
export interface Frontier {
  readonly log: LogState;
  /** undefined before the first. */
  readonly seal: SealRow | undefined;
  /** Under the seal, left to right. */
  readonly peaks: readonly Uint8Array[];
  /** The nodes of the last page if it is not full: at most 31. */
  readonly openPage: readonly Uint8Array[];
  /** The key that the receipts below are signed with. */
  readonly keyId: string;
  /** Signatures over peaks by node index; empty for RFC 9162. */
  readonly peakReceipts: ReadonlyMap<bigint, Uint8Array>;
}

/**
 * Reads the frontier of a sealed log and checks that the stored nodes are those that its last seal signed.
 * @throws {LogInconsistent} if they are not
 */
export async function readFrontier(
  tx: Tx,
  context: LedgerContext,
  memory: SealMemory,
  log: LogState,
): Promise<Frontier> {
  const keyId = keyIdOf(logSigner(context, log), log);
  const [sealed, openPage, receipts] = await Promise.all([
    sealedState(tx, context, memory, log),
    readOpenPage(tx, log, log.sealedSize),
    log.structure === 'MMR_SHA256'
      ? peakReceipts(tx, log, keyId, peakIndices(log.sealedSize))
      : new Map<bigint, Uint8Array>(),
  ]);
  return { log, ...sealed, openPage, keyId, peakReceipts: receipts };
}
