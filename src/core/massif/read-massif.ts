import { VerificationError } from '../errors.js';
import { isCompleteSize, leafCount } from '../mmr/leaf-count.js';
import type { NodeAt } from '../mmr/node-at.js';
import {
  firstLeaf,
  firstNode,
  fullNodeCount,
  NODE_BYTES,
  nodeStart,
  START_RECORD_BYTES,
  stackStart,
  TRIE_ENTRY_BYTES,
  TRIE_START,
} from './massif-layout.js';
import { decodeMassifStart, type MassifStart } from './massif-start.js';
import { peakStackIndices } from './peak-stack.js';
import { decodeTrieEntry, type TrieEntry } from './trie-entry.js';

/** A read massif file. Byte strings are views of the file. */
export interface Massif extends MassifStart {
  /** One for each leaf, in log order. */
  readonly entries: readonly TrieEntry[];
  /** The peaks of the log before this massif, left to right. */
  readonly peakStack: readonly Uint8Array[];
  readonly firstNode: bigint;
  /** Index of the massif's first leaf. */
  readonly firstLeaf: bigint;
  /** Node count of the log at the file's end. */
  readonly size: bigint;
  /**
   * A node of this massif, or a peak of the log before it: enough for every proof of a node here against any size here.
   * @throws {VerificationError} `insufficient_data` for any other node
   */
  readonly nodeAt: NodeAt;
}

function corrupt(why: string): never {
  throw new VerificationError('massif_corrupt', why);
}

function slots(bytes: Uint8Array, start: number, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, slot) =>
    bytes.subarray(start + NODE_BYTES * slot, start + NODE_BYTES * (slot + 1)),
  );
}

/** How many nodes the file holds, if its length is one that a massif can have. */
function nodeCount({ height, index }: MassifStart, bytes: Uint8Array): number {
  const nodes = (bytes.length - nodeStart(height, index)) / NODE_BYTES;
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > fullNodeCount(height, index))
    corrupt(`massif ${index} of height ${height} cannot be ${bytes.length} bytes long`);
  if (!isCompleteSize(firstNode(height, index) + BigInt(nodes)))
    corrupt(`massif ${index} ends inside a leaf's parents`);
  return nodes;
}

/** Room that no leaf uses is zero, so that a file has one form. */
function checkZero(bytes: Uint8Array, start: number, end: number, massif: number): void {
  for (let at = start; at < end; at += 1)
    if (bytes[at] !== 0) corrupt(`massif ${massif} has something at byte ${at}, where nothing belongs`);
}

/**
 * Reads a massif file. Only its form is checked; `recomputeMassif` checks the hashes.
 * @throws {VerificationError} `massif_corrupt`
 */
export function readMassif(bytes: Uint8Array): Massif {
  const start = decodeMassifStart(bytes);
  const { height, index } = start;
  const nodes = nodeCount(start, bytes);
  const first = firstNode(height, index);
  const leaf = firstLeaf(height, index);
  const size = first + BigInt(nodes);
  const nodesAt = nodeStart(height, index);
  const leaves = Number(leafCount(size) - leaf);
  checkZero(bytes, START_RECORD_BYTES, TRIE_START, index);
  checkZero(bytes, TRIE_START + TRIE_ENTRY_BYTES * leaves, stackStart(height), index);
  const stackIndices = peakStackIndices(height, index);
  const peakStack = slots(bytes, stackStart(height), stackIndices.length);
  return {
    ...start,
    entries: Array.from({ length: leaves }, (_, place) =>
      decodeTrieEntry(bytes, TRIE_START + TRIE_ENTRY_BYTES * place),
    ),
    peakStack,
    firstNode: first,
    firstLeaf: leaf,
    size,
    nodeAt(node) {
      if (node >= first && node < size) {
        const at = nodesAt + NODE_BYTES * Number(node - first);
        return bytes.subarray(at, at + NODE_BYTES);
      }
      const peak = peakStack[stackIndices.indexOf(node)];
      if (!peak) throw new VerificationError('insufficient_data', `massif ${index} does not hold node ${node}`);
      return peak;
    },
  };
}
