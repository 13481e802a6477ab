import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type Massif, readMassif } from '../massif/read-massif.js';
import { appendLeaves } from '../mmr/append-leaves.js';
import { hashPosPair64 } from '../mmr/hash-pos-pair64.js';
import { mmrIndex } from '../mmr/leaf-count.js';

/** A massif whose hashes hold, with the peaks of the log at its end. */
export interface RecomputedMassif extends Massif {
  /** Left to right. */
  readonly peaks: readonly Uint8Array[];
}

function corrupt(why: string): never {
  throw new VerificationError('massif_corrupt', why);
}

function checkIdtimestamps({ index, entries, lastIdtimestamp }: Massif): void {
  entries.forEach((entry, place) => {
    if (place > 0 && entry.idtimestamp <= entries[place - 1]!.idtimestamp)
      corrupt(`the idtimestamps of massif ${index} do not rise at leaf ${place} of it`);
  });
  if (entries.at(-1)!.idtimestamp !== lastIdtimestamp)
    corrupt(`massif ${index} does not name the idtimestamp of its last leaf`);
}

/**
 * Reads a massif file and recomputes every interior node from its leaves and its peak stack. The idtimestamps must
 * rise, and the start record must name the last one. By itself this proves no log: the resulting peaks are the log's
 * only if a seal covers them.
 * @throws {VerificationError} `massif_corrupt`
 */
export function recomputeMassif(bytes: Uint8Array): RecomputedMassif {
  const massif = readMassif(bytes);
  checkIdtimestamps(massif);
  const leaves = massif.entries.map((_, place) => massif.nodeAt(mmrIndex(massif.firstLeaf + BigInt(place))));
  const { nodes, peaks } = appendLeaves(hashPosPair64, massif.firstNode, massif.peakStack, leaves);
  nodes.forEach((node, place) => {
    const index = massif.firstNode + BigInt(place);
    if (!equalBytes(node, massif.nodeAt(index)))
      corrupt(`node ${index} of massif ${massif.index} is not its children's`);
  });
  return { ...massif, peaks };
}

/**
 * Checks a massif file against itself, as `recomputeMassif` does.
 * @throws {VerificationError} `massif_corrupt`
 */
export function verifyMassif(bytes: Uint8Array): void {
  recomputeMassif(bytes);
}
