import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { requireHashes } from '../mmr/require-hashes.js';
import { trailingZeros } from '../mmr/uint64-bits.js';
import { rfc9162Parent } from './rfc9162-parent.js';
import { rfc9162Root } from './rfc9162-root.js';

function demand(holds: boolean, why: string): asserts holds {
  if (!holds) throw new VerificationError('consistency_invalid', `the consistency proof ${why}`);
}

/** Both roots from a proof between two different sizes, the older not empty (RFC 9162 section 2.1.4.2). */
function provenRoots(size1: bigint, root1: Uint8Array, size2: bigint, path: readonly Uint8Array[]) {
  const shift = BigInt(trailingZeros(size1));
  let node = (size1 - 1n) >> shift;
  let last = (size2 - 1n) >> shift;
  // An older tree that is perfect is itself the lowest subtree, and left out of the proof.
  const [first, ...rest] = node === 0n ? [root1, ...path] : path;
  demand(first !== undefined, 'is too short');
  let older = first;
  let newer = first;
  for (const sibling of rest) {
    demand(last !== 0n, 'is too long');
    if ((node & 1n) === 1n || node === last) {
      older = rfc9162Parent(0n, sibling, older);
      newer = rfc9162Parent(0n, sibling, newer);
      while (node !== 0n && (node & 1n) === 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      newer = rfc9162Parent(0n, newer, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  demand(last === 0n, 'is too short');
  return { older, newer };
}

/**
 * Checks that the tree of `size2` leaves with `root2` extends that of `size1` leaves with `root1`
 * (RFC 9162 section 2.1.4.2). Between equal sizes, and from the empty tree, the proof is empty.
 * @throws {VerificationError} `consistency_invalid`
 */
export function rfc9162VerifyConsistency(
  size1: bigint,
  root1: Uint8Array,
  size2: bigint,
  root2: Uint8Array,
  path: readonly Uint8Array[],
): void {
  demand(size1 >= 0n && size1 <= size2, 'is from a larger tree to a smaller one');
  requireHashes('consistency_invalid', 'a consistency proof', [root1, root2]);
  requireHashes('consistency_invalid', 'a consistency proof', path);
  if (size1 === 0n || size1 === size2) {
    demand(path.length === 0, 'is too long');
    const expected = size1 === size2 && size1 > 0n ? root2 : rfc9162Root([]);
    demand(equalBytes(root1, expected), 'does not lead to the older root');
    if (size2 === 0n) demand(equalBytes(root2, expected), 'does not lead to the newer root');
    return;
  }
  const { older, newer } = provenRoots(size1, root1, size2, path);
  demand(equalBytes(older, root1), 'does not lead to the older root');
  demand(equalBytes(newer, root2), 'does not lead to the newer root');
}
