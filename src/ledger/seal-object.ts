import { equalBytes } from '../core/bytes.js';
import { encodeCbor } from '../core/cose/cbor.js';
import type { ObjectStore } from '../platform/object-store.js';
import { currentGeneration, type ForkedLog, generationAt, type LogState, type LogStructure } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import type { SealRow } from './seal-store.js';

/**
 * Key of a seal in the object store, by its number. Create-only: if the database was restored from an older copy, it
 * reaches a number that is taken, and stops there instead of signing a second history.
 */
export function sealObjectKey(log: ForkedLog, sealNumber: bigint): string {
  return generationSealKey(log.logId, generationAt(log, sealNumber), sealNumber);
}

/** Key of a seal that a given generation of a log made. */
export function generationSealKey(logId: string, generation: number, sealNumber: bigint): string {
  return `seals/${generationId(logId, generation)}/${sealNumber.toString().padStart(16, '0')}`;
}

/** The id of a generation of a log, in the keys of its objects. */
export function generationId(logId: string, generation: number): string {
  return generation === 0 ? logId : `${logId}.${generation}`;
}

/** Key of the statement that begins a generation of a log. Create-only, and written before the log is in that generation. */
export function forkObjectKey(logId: string, generation: number): string {
  return `forks/${logId}/${generation.toString().padStart(16, '0')}`;
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
  if ((await objectStore.get(sealObjectKey(log, next))) !== undefined)
    throw new LogInconsistent(`the object store has seal ${next}: the database is older than what was published`);
}

/**
 * Checks that the object store has no generation of the log after the database's. A running service needs this only once: a
 * generation begins through the database.
 * @throws {LogInconsistent} if it has: another copy of the database was forked openly
 */
export async function checkNoLaterGeneration(objectStore: ObjectStore, log: LogState): Promise<void> {
  const next = currentGeneration(log) + 1;
  if ((await objectStore.get(forkObjectKey(log.logId, next))) !== undefined)
    throw new LogInconsistent(`the log was forked openly into generation ${next}: the database is older than that`);
}

/** The object of a log's last seal; undefined without one. @throws {LogInconsistent} if there is a later one */
export async function lastSealObject(objectStore: ObjectStore, log: LogState): Promise<Uint8Array | undefined> {
  const [kept] = await Promise.all([
    log.sealNumber > 0n ? objectStore.get(sealObjectKey(log, log.sealNumber)) : undefined,
    checkNoLaterSeal(objectStore, log),
  ]);
  return kept;
}

/**
 * Checks that the object store ends with the same seal as the database: it has that seal, byte for byte, and no later
 * one.
 * @param object the log's `lastSealObject`
 * @throws {LogInconsistent} if it does not: one of the two was restored from an older or a different copy
 */
export async function checkLastSealObject(
  object: Promise<Uint8Array | undefined>,
  log: LogState,
  seal: SealRow | undefined,
): Promise<void> {
  const kept = await object;
  if (!seal) return;
  if (!kept) throw new LogInconsistent(`published seal ${seal.sealNumber} is not in the object store`);
  if (!equalBytes(kept, sealObjectBytes(log.structure, seal)))
    throw new LogInconsistent(`the object store has another seal ${seal.sealNumber} than the database`);
}
