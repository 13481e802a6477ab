import { VerificationError } from '../errors.js';
import { indexHeight } from '../mmr/index-height.js';
import { leafIndex } from '../mmr/leaf-count.js';
import type { NodeAt } from '../mmr/node-at.js';
import { rfc9162Parent } from '../rfc9162/rfc9162-parent.js';
import { hashesAtLevel, TILE_WIDTH, tilePath } from './tile.js';

const HASH_BYTES = 32;
const WIDTH = BigInt(TILE_WIDTH);
/** Heights between two levels of tiles. */
const STEP = 8;

/** Where the hashes are that make a node: `count` consecutive ones of a tile. */
interface TilePlace {
  readonly path: string;
  readonly offset: number;
  readonly count: number;
}

/** @param size entries of the tree, all under its root */
function placeOf(index: bigint, size: bigint): TilePlace {
  const height = indexHeight(index);
  const level = Math.floor(height / STEP);
  // A subtree's root follows its last leaf and the parents below it.
  const end = leafIndex(index - BigInt(height)) + 1n;
  const first = (end - (1n << BigInt(height))) >> BigInt(STEP * level);
  const tile = first / WIDTH;
  const held = hashesAtLevel(size, level) - tile * WIDTH;
  const width = held < WIDTH ? Number(held) : TILE_WIDTH;
  return { path: tilePath({ level, index: tile, width }), offset: Number(first % WIDTH), count: 1 << (height % STEP) };
}

/** Returns the paths of the tiles (C2SP tlog-tiles) that hold the nodes at these post-order indices, each path once. */
export function tilesOfNodes(indices: readonly bigint[], size: bigint): string[] {
  return [...new Set(indices.map((index) => placeOf(index, size).path))];
}

/**
 * Returns the nodes of a tree from its tiles.
 * @param tiles by their paths, those of `tilesOfNodes`
 * @throws {VerificationError} `malformed` when a tile is absent or has another length
 */
export function nodesInTiles(tiles: ReadonlyMap<string, Uint8Array>, size: bigint): NodeAt {
  return (index) => {
    const { path, offset, count } = placeOf(index, size);
    const bytes = tiles.get(path) ?? new Uint8Array();
    const start = HASH_BYTES * offset;
    if (bytes.length < start + HASH_BYTES * count)
      throw new VerificationError('malformed', `the tile ${path} is too short`);
    let hashes: Uint8Array[] = Array.from({ length: count }, (_, at) =>
      bytes.slice(start + HASH_BYTES * at, start + HASH_BYTES * (at + 1)),
    );
    while (hashes.length > 1)
      hashes = Array.from({ length: hashes.length / 2 }, (_, at) =>
        rfc9162Parent(0n, hashes[2 * at]!, hashes[2 * at + 1]!),
      );
    return hashes[0]!;
  };
}
