import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { forkLeaf } from '../../core/fork/fork-leaf.js';
import type { OpenFork } from '../../core/fork/judge-fork.js';
import type { Massif } from '../../core/massif/read-massif.js';
import { baggedRoot } from '../../core/mmr/bagged-root.js';
import { leafCount, mmrIndex, sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { peaks } from '../../core/mmr/peaks.js';
import { checkHolds } from '../../core/verify/verify-consistency.js';
import type { ProvenMassif } from '../../core/verify/verify-log.js';

/** Whether a massif holds a leaf, and its seal covers it. */
export const holdsLeaf = (leaf: bigint, { massif, seal }: ProvenMassif): boolean =>
  leaf >= massif.firstLeaf && leaf < leafCount(seal.state.size);

/**
 * Checks that the massif in which a fork begins holds the shared leaves under the stated root, then the statement.
 * @throws {VerificationError} `leaf_mismatch`, `consistency_invalid`
 */
export function checkFork({ newest }: OpenFork, massif: Massif): void {
  const place = Number(newest.leaves - massif.firstLeaf);
  const entry = massif.entries[place];
  const index = mmrIndex(newest.leaves);
  if (!entry || !equalBytes(massif.nodeAt(index), forkLeaf(newest.bytes, entry.idtimestamp)))
    throw new VerificationError('leaf_mismatch', `leaf ${newest.leaves} is not the fork statement: a silent fork`);
  const shared = newest.leaves === 0n ? [] : peaks(sizeOfLeaves(newest.leaves)).map(massif.nodeAt);
  if (shared.length > 0 && !equalBytes(baggedRoot(shared), newest.root))
    throw new VerificationError('consistency_invalid', 'the log holds other leaves than its fork statement says');
}

/** Returns the peaks that the kept leaves and the log before the seen massif have in common. */
function peaksOfBoth({ kept }: OpenFork, { massif }: ProvenMassif): bigint[] {
  const before = peaks(massif.firstNode);
  return peaks(sizeOfLeaves(kept)).filter((index) => before.includes(index));
}

/** Returns how many kept leaves `checkKept` can compare: a monitor keeps one massif, and the peaks before it. */
export function comparedLeaves(fork: OpenFork, seen: ProvenMassif): bigint {
  if (fork.kept > seen.massif.firstLeaf) return fork.kept;
  const last = peaksOfBoth(fork, seen).at(-1);
  return last === undefined ? 0n : leafCount(last + 1n);
}

/**
 * Checks that the leaves which a fork kept are those that were seen, as far as they can be compared.
 * @param now the massif after the last kept leaf
 * @param seen the state of which the fork lost a part
 * @throws {VerificationError} `consistency_invalid`
 */
export function checkKept(fork: OpenFork, now: Massif, seen: ProvenMassif): void {
  const { massif } = seen;
  const size = sizeOfLeaves(fork.kept);
  if (size > massif.firstNode) checkHolds(now, massif, size);
  else if (!peaksOfBoth(fork, seen).every((index) => equalBytes(massif.nodeAt(index), now.nodeAt(index))))
    throw new VerificationError('consistency_invalid', `the log holds other nodes below size ${size}: a fork`);
}
