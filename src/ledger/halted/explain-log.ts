import { equalBytes } from '../../core/bytes.js';
import { decodeCbor } from '../../core/cose/cbor.js';
import { leafCount } from '../../core/mmr/leaf-count.js';
import { readSeal } from '../../core/receipt/seal.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { LogState } from '../log.js';
import { sealObjectBytes, sealObjectKey } from '../seal-object.js';
import type { SealRow } from '../seal-store.js';

/** A seal, and how many leaves it covers. */
export interface SealPlace {
  readonly number: bigint;
  /** Undefined if the seal cannot be read. */
  readonly leaves: bigint | undefined;
}

/**
 * How the database and the object store differ about a log. `consistent` means that both end with the same seal; a log
 * that is halted nevertheless has rows that contradict each other.
 */
export type Finding = 'consistent' | 'database_older' | 'objects_older' | 'objects_differ';

/** The evidence about one log: what the database says, what the object store has, and how they differ. */
export interface LogExplanation {
  readonly finding: Finding;
  readonly database: SealPlace;
  /** Undefined if the object store has no seal of this log. */
  readonly objects: SealPlace | undefined;
}

/**
 * Compares a log's row with the seals in the object store. Reads O(log n) objects and changes nothing.
 * @param seal the log's last published seal in the database
 */
export async function explainLog(
  objectStore: ObjectStore,
  log: LogState,
  seal: SealRow | undefined,
): Promise<LogExplanation> {
  const last = await lastSealNumber(objectStore, log);
  const bytes = last === 0n ? undefined : await objectStore.get(sealObjectKey(log.logId, last));
  const database = { number: log.publishedNumber, leaves: seal?.leaves ?? 0n };
  const objects = bytes && { number: last, leaves: leavesOf(log, bytes) };
  return { finding: await findingOf(objectStore, log, seal, last), database, objects };
}

async function findingOf(
  objectStore: ObjectStore,
  log: LogState,
  seal: SealRow | undefined,
  last: bigint,
): Promise<Finding> {
  if (last > log.sealNumber) return 'database_older';
  if (last < log.publishedNumber) return 'objects_older';
  if (!seal) return 'consistent';
  const stored = await objectStore.get(sealObjectKey(log.logId, seal.sealNumber));
  return stored && equalBytes(stored, sealObjectBytes(log.structure, seal)) ? 'consistent' : 'objects_differ';
}

/** Seals are numbered from 1 without gaps, so that the last one is found by doubling and halving; 0 if there is none. */
async function lastSealNumber(objectStore: ObjectStore, { logId, sealNumber }: LogState): Promise<bigint> {
  const exists = async (number: bigint) => (await objectStore.get(sealObjectKey(logId, number))) !== undefined;
  let low = 0n;
  let high = sealNumber + 1n;
  if (sealNumber > 0n && (await exists(sealNumber))) low = sealNumber;
  for (let step = 1n; await exists(high); step *= 2n) [low, high] = [high, high + step];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await exists(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function leavesOf({ structure }: LogState, bytes: Uint8Array): bigint | undefined {
  try {
    if (structure === 'MMR_SHA256') return leafCount(readSeal(bytes).state.size);
    const decoded = decodeCbor(bytes);
    return Array.isArray(decoded) ? BigInt(decoded[0] as number | bigint) : undefined;
  } catch {
    return undefined;
  }
}
