import { equalBytes } from '../core/bytes.js';
import { encodeCbor } from '../core/cose/cbor.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { LogState, LogStructure } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import type { SealRow } from './seal-store.js';

/**
 * Key of a seal in the object store, by its number. Create-only: if the database was restored from an older copy, it
 * reaches a number that is taken, and stops there instead of signing a second history.
 */
export function sealObjectKey(logId: string, sealNumber: bigint): string {
  return `seals/${logId}/${sealNumber.toString().padStart(16, '0')}`;
}

/**
 * The stored bytes: for an MMR the seal itself; for RFC 9162, whose signed bytes have no size, CBOR [leaves, signed
 * root].
 */
export function sealObjectBytes(structure: LogStructure, seal: SealRow): Uint8Array {
  return structure === 'MMR_SHA256' ? seal.signed : encodeCbor([seal.leaves, seal.signed]);
}

/**
 * Checks that the object store has no seal after the database's last one.
 * @throws {LogInconsistent} if it has: the database was restored from an older copy
 */
export async function checkNoLaterSeal(objectStore: ObjectStore, log: LogState): Promise<void> {
  const next = log.sealNumber + 1n;
  if ((await objectStore.get(sealObjectKey(log.logId, next))) !== undefined)
    throw new LogInconsistent(`the object store has seal ${next}: the database is older than what was published`);
}

/**
 * Checks that the object store ends with the same seal as the database: it has that seal, byte for byte, and no later
 * one.
 * @throws {LogInconsistent} if it does not: one of the two was restored from an older or a different copy
 */
export async function checkLastSealObject(
  objectStore: ObjectStore,
  log: LogState,
  seal: SealRow | undefined,
): Promise<void> {
  await checkNoLaterSeal(objectStore, log);
  if (!seal) return;
  const kept = await objectStore.get(sealObjectKey(log.logId, seal.sealNumber));
  if (!kept) throw new LogInconsistent(`published seal ${seal.sealNumber} is not in the object store`);
  if (!equalBytes(kept, sealObjectBytes(log.structure, seal)))
    throw new LogInconsistent(`the object store has another seal ${seal.sealNumber} than the database`);
}
