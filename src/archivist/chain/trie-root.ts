import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';

type Node = Uint8Array | Node[];
/** A key as half-bytes, with its value. */
interface Entry {
  readonly path: readonly number[];
  readonly value: Uint8Array;
}

const EMPTY: Uint8Array = new Uint8Array();
const HASH_BYTES = 32;

/**
 * Returns the root of a Merkle Patricia trie (Ethereum Yellow Paper, appendix D), 32 bytes.
 * @param entries distinct keys with non-empty values
 */
export function trieRoot(entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array {
  return keccak_256(
    RLP.encode(
      nodeOf(
        entries.map(([key, value]) => ({ path: halfBytes(key), value })),
        0,
      ),
    ),
  );
}

/** The root over a list, with each item keyed by the RLP of its index: a block's transactions, or their receipts. */
export function listRoot(items: readonly Uint8Array[]): Uint8Array {
  return trieRoot(items.map((item, place) => [RLP.encode(place), item] as const));
}

/** The node over entries that share the first `depth` half-bytes of their paths. */
function nodeOf(entries: readonly Entry[], depth: number): Node {
  const [first] = entries;
  if (!first) return EMPTY;
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value];
  const shared = sharedDepth(entries, depth);
  if (shared > depth) return [compact(first.path.slice(depth, shared), false), reference(nodeOf(entries, shared))];
  const children = Array.from({ length: 16 }, (_, next) =>
    reference(
      nodeOf(
        entries.filter(({ path }) => path[depth] === next),
        depth + 1,
      ),
    ),
  );
  return [...children, entries.find(({ path }) => path.length === depth)?.value ?? EMPTY];
}

/** A parent refers to a node by its hash, or includes it directly if it is short. */
function reference(node: Node): Node {
  const encoded = RLP.encode(node);
  return encoded.length < HASH_BYTES ? node : keccak_256(encoded);
}

function sharedDepth(entries: readonly Entry[], from: number): number {
  const [first] = entries;
  let depth = from;
  while (depth < first!.path.length && entries.every(({ path }) => path[depth] === first!.path[depth])) depth += 1;
  return depth;
}

function halfBytes(key: Uint8Array): number[] {
  return [...key].flatMap((byte) => [byte >> 4, byte & 15]);
}

/** Hex-prefix form: a flag for a leaf and for an odd length, then the half-bytes. */
function compact(path: readonly number[], leaf: boolean): Uint8Array {
  const flag = leaf ? 2 : 0;
  const padded = path.length % 2 === 1 ? [flag + 1, ...path] : [flag, 0, ...path];
  return Uint8Array.from({ length: padded.length / 2 }, (_, at) => padded[2 * at]! * 16 + padded[2 * at + 1]!);
}
