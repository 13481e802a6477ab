import { uint64ToBytes, utf8 } from '../../../src/core/bytes.js';
import { buildMassif } from '../../../src/core/massif/build-massif.js';
import { firstNode, leavesPerMassif } from '../../../src/core/massif/massif-layout.js';
import { peakStackIndices } from '../../../src/core/massif/peak-stack.js';
import { type TrieEntry, trieKey } from '../../../src/core/massif/trie-entry.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { hashPosPair64 } from '../../../src/core/mmr/hash-pos-pair64.js';
import { mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { sha256 } from '../../../src/core/sha256.js';

/** A log of leaves that are hashes of their own node index, 2^24 apart in idtimestamp. */
export interface SampleLog {
  readonly entries: readonly TrieEntry[];
  readonly nodes: readonly Uint8Array[];
}

const FIRST_ID = 0x9470003611017900n;

export function sampleLog(tenant: string, leaves: number, appId: (leaf: number) => string): SampleLog {
  const logId = utf8(tenant);
  const extraBytes = new Uint8Array(24);
  const hashes = Array.from({ length: leaves }, (_, leaf) => sha256(uint64ToBytes(mmrIndex(BigInt(leaf)))));
  return {
    entries: hashes.map((_, leaf) => ({
      key: trieKey(logId, appId(leaf)),
      extraBytes,
      idtimestamp: FIRST_ID + (BigInt(leaf) << 24n),
    })),
    nodes: appendLeaves(hashPosPair64, 0n, [], hashes).nodes,
  };
}

/** One massif file of a log, as it is at the log's end. */
export function massifOf({ entries, nodes }: SampleLog, height: number, massif: number): Uint8Array {
  const first = massif * leavesPerMassif(height);
  const last = Math.min(entries.length, first + leavesPerMassif(height));
  return buildMassif({
    height,
    massif,
    entries: entries.slice(first, last),
    peakStack: peakStackIndices(height, massif).map((index) => nodes[Number(index)]!),
    nodes: nodes.slice(Number(firstNode(height, massif)), Number(sizeOfLeaves(BigInt(last)))),
  });
}

/** The 21 leaf log behind the published massif files. */
export function knownLog(): SampleLog {
  const identity = 'assets/00000000-0000-4000-8000-000000000001/events/00000000-0000-4000-8000-';
  return sampleLog(
    'tenant/00000000-0000-4000-8000-000000000039',
    21,
    (leaf) => identity + String(leaf).padStart(12, '0'),
  );
}

/** A copy with one bit of one byte turned. */
export function flipBit(bytes: Uint8Array, offset: number, bit = 0): Uint8Array {
  const copy = bytes.slice();
  copy[offset]! ^= 1 << bit;
  return copy;
}
