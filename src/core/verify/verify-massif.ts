import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { leavesPerMassif, nodeStart, stackStart, TRIE_ENTRY_LENGTH, TRIE_START } from '../massif/massif-layout.js';
import { type Massif, readMassif } from '../massif/read-massif.js';
import { appendLeaves } from '../mmr/append-leaves.js';
import { hashPosPair64 } from '../mmr/hash-pos-pair64.js';
import { mmrIndex } from '../mmr/leaf-count.js';

/**
 * Recomputes every interior node of a massif from its leaves and the peaks that it carries in, and checks that its
 * idtimestamps rise to the one in the header and that nothing stands where nothing may.
 * @throws {VerificationError} `massif_corrupt`
 */
export function verifyMassif(bytes: Uint8Array): Massif {
  const massif = readMassif(bytes);
  const firstLeaf = BigInt(massif.index) * leavesPerMassif(massif.height);
  const leaves = massif.entries.map((_, slot) => massif.nodeAt(mmrIndex(firstLeaf + BigInt(slot))));
  const { nodes } = appendLeaves(hashPosPair64, massif.firstNode, massif.peakStack, leaves);
  nodes.forEach((node, offset) => {
    const index = massif.firstNode + BigInt(offset);
    if (!equalBytes(node, massif.nodeAt(index)))
      throw new VerificationError('massif_corrupt', `node ${index} is not the hash of its children`);
  });
  checkIdtimestamps(massif);
  checkUnused(bytes, massif);
  return massif;
}

function checkIdtimestamps(massif: Massif): void {
  const ids = massif.entries.map((entry) => entry.idtimestamp);
  if (ids.some((id, slot) => slot > 0 && id <= ids[slot - 1]!))
    throw new VerificationError('massif_corrupt', 'idtimestamps do not rise');
  if (ids.at(-1) !== massif.lastIdtimestamp)
    throw new VerificationError('massif_corrupt', "the header's idtimestamp is not the last leaf's");
}

function checkUnused(bytes: Uint8Array, massif: Massif): void {
  const trieEnd = TRIE_START + TRIE_ENTRY_LENGTH * massif.entries.length;
  const unused = [
    bytes.subarray(32, TRIE_START),
    bytes.subarray(trieEnd, Math.min(stackStart(massif.height), nodeStart(massif.height, massif.index))),
  ];
  if (unused.some((part) => part.some((byte) => byte !== 0)))
    throw new VerificationError('massif_corrupt', 'a reserved byte is set');
}
