import { equalBytes } from '../../core/bytes.js';
import { decodeCbor } from '../../core/cose/cbor.js';
import { firstName, generationName } from '../../core/fork/log-generation.js';
import { leafCount } from '../../core/mmr/leaf-count.js';
import { readSeal } from '../../core/receipt/seal.js';
import type { ObjectStore } from '../../platform/object-store.js';
import { currentGeneration, type LogState, nameAt } from '../log.js';
import { generationSealKey, sealObjectBytes, sealObjectKey } from '../seal-object.js';
import type { SealRow } from '../seal-store.js';
import { type LastPublished, lastPublished } from './last-published.js';

/** A seal, and how many leaves it covers. */
export interface SealPlace {
  /** Of the log, in this seal. */
  readonly name: string;
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
  readonly objects: (SealPlace & { readonly bytes: Uint8Array }) | undefined;
  /** The newest generation of the log in the object store. */
  readonly newestGeneration: number;
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
  const last = await lastPublished(objectStore, log);
  const { generation, number } = last;
  const bytes = number === 0n ? undefined : await objectStore.get(generationSealKey(log.logId, generation, number));
  const database = { name: nameAt(log, log.publishedNumber), number: log.publishedNumber, leaves: seal?.leaves ?? 0n };
  const name = generationName({ base: firstName(log.name), generation });
  const objects = bytes && { name, number, leaves: leavesOf(log, bytes), bytes };
  return {
    finding: await findingOf(objectStore, log, seal, last),
    database,
    objects,
    newestGeneration: last.newestGeneration,
  };
}

async function findingOf(
  objectStore: ObjectStore,
  log: LogState,
  seal: SealRow | undefined,
  last: LastPublished,
): Promise<Finding> {
  const isLater = last.newestGeneration > currentGeneration(log) || last.number > log.sealNumber;
  if (isLater) return 'database_older';
  if (last.number < log.publishedNumber) return 'objects_older';
  if (!seal) return 'consistent';
  const stored = await objectStore.get(sealObjectKey(log, seal.sealNumber));
  return stored && equalBytes(stored, sealObjectBytes(log.structure, seal)) ? 'consistent' : 'objects_differ';
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
