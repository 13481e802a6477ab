import { readForkStatement } from '../../core/fork/read-fork-statement.js';
import { lastNumber } from '../../platform/last-number.js';
import type { ObjectStore } from '../../platform/object-store.js';
import { currentGeneration, generationAt, type LogState } from '../log.js';
import { forkObjectKey, generationSealKey, sealObjectKey } from '../seal-object.js';

/** A generation of a log, as the object store shows it. */
interface ShownGeneration {
  readonly generation: number;
  /** The seals of this generation are numbered from here. */
  readonly firstSeal: bigint;
}

/** The newest seal of a log in the object store. */
export interface LastPublished {
  readonly generation: number;
  /** 0 if there is no seal. */
  readonly number: bigint;
  /** The newest generation, which may have no seal yet. */
  readonly newestGeneration: number;
}

/**
 * Finds the newest seal of a log in the object store, also one of a later generation than the database knows. Reads
 * O(log n) objects.
 */
export async function lastPublished(objectStore: ObjectStore, log: LogState): Promise<LastPublished> {
  const generations = await shownGenerations(objectStore, log);
  const newestGeneration = generations.at(-1)!.generation;
  for (const { generation, firstSeal } of generations.toReversed()) {
    const known = generation === currentGeneration(log) ? log.sealNumber : 0n;
    const number = await lastSealNumber(objectStore, log, { generation, firstSeal, known });
    if (number > 0n) return { generation, number, newestGeneration };
  }
  // The newest generation has no seal yet. What an open fork left behind does not count.
  const kept = await objectStore.get(sealObjectKey(log, log.sealNumber));
  return { generation: generationAt(log, log.sealNumber), number: kept ? log.sealNumber : 0n, newestGeneration };
}

/** The generation that the database is in, and the later ones. */
async function shownGenerations(objectStore: ObjectStore, log: LogState): Promise<ShownGeneration[]> {
  const generations = [{ generation: currentGeneration(log), firstSeal: (log.forks.at(-1)?.sealNumber ?? 0n) + 1n }];
  for (let generation = currentGeneration(log) + 1; ; generation += 1) {
    const statement = await objectStore.get(forkObjectKey(log.logId, generation));
    if (!statement) return generations;
    generations.push({ generation, firstSeal: readForkStatement(statement).sealNumber + 1n });
  }
}

/** The number of the last seal, 0 without seals. Seals have no gaps. */
async function lastSealNumber(
  objectStore: ObjectStore,
  { logId }: LogState,
  { generation, firstSeal, known }: ShownGeneration & { readonly known: bigint },
): Promise<bigint> {
  const exists = async (number: bigint) =>
    (await objectStore.get(generationSealKey(logId, generation, number))) !== undefined;
  const isKnown = known >= firstSeal && (await exists(known));
  const last = await lastNumber(exists, isKnown ? known : firstSeal - 1n, known >= firstSeal ? known + 1n : firstSeal);
  return last < firstSeal ? 0n : last;
}
