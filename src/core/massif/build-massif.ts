import { sizeOfLeaves } from '../mmr/leaf-count.js';
import { EPOCH } from './idtimestamp.js';
import {
  firstLeaf,
  firstNode,
  leavesPerMassif,
  NODE_BYTES,
  nodeStart,
  stackStart,
  TRIE_ENTRY_BYTES,
  TRIE_START,
} from './massif-layout.js';
import { encodeMassifStart } from './massif-start.js';
import { encodeTrieEntry, type TrieEntry } from './trie-entry.js';

/** The content of a massif, in log order. */
interface MassifParts {
  readonly height: number;
  readonly massif: number;
  readonly epoch?: number;
  /** One for each leaf. */
  readonly entries: readonly TrieEntry[];
  /** The peaks of the log before this massif, left to right. */
  readonly peakStack: readonly Uint8Array[];
  /** All nodes from the massif's first one on, complete with the parents of the last leaf. */
  readonly nodes: readonly Uint8Array[];
}

function checkParts({ height, massif, entries, peakStack, nodes }: MassifParts): void {
  const before = firstLeaf(height, massif);
  const expected = Number(sizeOfLeaves(before + BigInt(entries.length)) - firstNode(height, massif));
  if (entries.length < 1 || entries.length > leavesPerMassif(height))
    throw new TypeError(`a massif of height ${height} holds 1 to ${leavesPerMassif(height)} leaves`);
  if (nodes.length !== expected) throw new TypeError(`${entries.length} leaves make ${expected} nodes here`);
  if (NODE_BYTES * peakStack.length !== nodeStart(height, massif) - stackStart(height))
    throw new TypeError('the peak stack does not have the peaks of the log before the massif');
  if ([...peakStack, ...nodes].some((node) => node.length !== NODE_BYTES)) throw new TypeError('a node is 32 bytes');
}

/**
 * Returns the bytes of a massif file, exactly as merklelog clients read them.
 * @throws {TypeError} if the parts do not fit each other
 */
export function buildMassif(parts: MassifParts): Uint8Array {
  checkParts(parts);
  const { height, massif, epoch = EPOCH, entries, peakStack, nodes } = parts;
  const start = nodeStart(height, massif);
  const bytes = new Uint8Array(start + NODE_BYTES * nodes.length);
  bytes.set(encodeMassifStart({ lastIdtimestamp: entries.at(-1)!.idtimestamp, epoch, height, index: massif }));
  entries.forEach((entry, leaf) => {
    bytes.set(encodeTrieEntry(entry), TRIE_START + TRIE_ENTRY_BYTES * leaf);
  });
  peakStack.forEach((peak, slot) => {
    bytes.set(peak, stackStart(height) + NODE_BYTES * slot);
  });
  nodes.forEach((node, place) => {
    bytes.set(node, start + NODE_BYTES * place);
  });
  return bytes;
}
