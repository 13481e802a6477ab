import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { appendLeaves } from '../../core/mmr/append-leaves.js';
import { popcount } from '../../core/mmr/uint64-bits.js';
import { rfc9162Parent } from '../../core/rfc9162/rfc9162-parent.js';
import { hashesAtLevel, TILE_WIDTH, tilePath } from '../../core/tlog/tile.js';
import { requireFile } from './fetch-file.js';

const HASH_BYTES = 32;
const WIDTH = BigInt(TILE_WIDTH);

/** A proven state of a statement log: its entries, and the roots of its complete subtrees, largest first. */
export interface ProvenTree {
  readonly size: bigint;
  readonly peaks: readonly Uint8Array[];
}

/** Returns the 32-byte hashes that stand one after the other; a rest is left out. */
export function splitHashes(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(bytes.length / HASH_BYTES) }, (_, at) =>
    bytes.slice(HASH_BYTES * at, HASH_BYTES * (at + 1)),
  );
}

/** Returns how many of its 256 places a tile fills in a log with so many hashes at its level. */
export function tileWidth(hashes: bigint, index: bigint): number {
  const left = hashes - index * WIDTH;
  return left < WIDTH ? Number(left) : TILE_WIDTH;
}

/**
 * Fetches a tile of hashes; they are not checked yet.
 * @param url prefix of the log's files
 * @throws {VerificationError} `malformed` if it is not as long as its name says
 * @throws {LogUnreachable}
 */
export async function fetchTile(url: string, level: number, index: bigint, width: number): Promise<Uint8Array[]> {
  const tile = await requireFile(`${url}/tile/${tilePath({ level, index, width })}`);
  if (tile.length !== width * HASH_BYTES)
    throw new VerificationError(
      'malformed',
      `tile ${index} of level ${level} is ${tile.length} bytes long, not ${width} hashes`,
    );
  return splitHashes(tile);
}

/**
 * Returns a function that fetches the leaf hashes of the tile of level 0 with an index, and checks that the tree holds
 * them: the hashes of a full tile lead to one hash of the level above, and those of a partial tile to peaks. The last tile
 * of each level is remembered, so reading on costs few requests.
 * @throws {VerificationError} `leaf_mismatch`, `malformed`
 * @throws {LogUnreachable}
 */
export function checkedLeaves(url: string, { size, peaks }: ProvenTree): (index: bigint) => Promise<Uint8Array[]> {
  const last = new Map<number, { readonly index: bigint; readonly hashes: Uint8Array[] }>();

  /** The peaks that a partial tile has: there is one for each bit of its width. */
  function peaksOf(level: number, width: number): readonly Uint8Array[] {
    const before = popcount(hashesAtLevel(size, level + 1));
    return peaks.slice(before, before + popcount(BigInt(width)));
  }

  async function hashesOf(level: number, index: bigint): Promise<Uint8Array[]> {
    const known = last.get(level);
    if (known?.index === index) return known.hashes;
    const width = tileWidth(hashesAtLevel(size, level), index);
    const hashes = await fetchTile(url, level, index, width);
    const roots = appendLeaves(rfc9162Parent, 0n, [], hashes).peaks;
    const expected =
      width < TILE_WIDTH ? peaksOf(level, width) : [(await hashesOf(level + 1, index / WIDTH))[Number(index % WIDTH)]!];
    if (roots.length !== expected.length || !roots.every((root, place) => equalBytes(root, expected[place]!)))
      throw new VerificationError('leaf_mismatch', `tile ${index} of level ${level} is not in the tree`);
    last.set(level, { index, hashes });
    return hashes;
  }

  return (index) => hashesOf(0, index);
}
