import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { rfc9162LeafWith } from '../../core/rfc9162/rfc9162-leaf.js';
import { TILE_WIDTH, tilePath } from '../../core/tlog/tile.js';
import { nodeSha256 } from '../../platform/node-sha256.js';
import { checkedLeaves, type ProvenTree, tileWidth } from './checked-tiles.js';
import { fetchFile, LogUnreachable } from './fetch-file.js';

/** An entry of a statement log that its tree holds at this index. */
export interface PublishedEntry {
  readonly index: bigint;
  readonly entry: Uint8Array;
}

const leafOf = rfc9162LeafWith(nodeSha256);
/** A long log is read over several rounds. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The entries of a bundle: each after its length in two bytes. */
function split(bundle: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at + 2 <= bundle.length) {
    const end = at + 2 + ((bundle[at]! << 8) | bundle[at + 1]!);
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

/**
 * Reads the entries of a statement log from `from` on, bundle by bundle, until its end or until 64 MiB are read. Each is
 * what the tree holds at its index. A log that publishes no entries, such as the private one, has none.
 * @param isPublished the log is known to publish its entries
 * @throws {VerificationError} `leaf_mismatch`, `malformed`
 * @throws {LogUnreachable} also if a published entry is withheld
 */
export async function* entriesFrom(
  { url, isPublished }: { readonly url: string; readonly isPublished: boolean },
  tree: ProvenTree,
  from: bigint,
): AsyncGenerator<PublishedEntry[]> {
  const leavesOf = checkedLeaves(url, tree);
  const width = BigInt(TILE_WIDTH);
  let bytes = 0;
  for (let index = from / width; index * width < tree.size && bytes < MOST_BYTES; index += 1n) {
    const path = tilePath({ level: 'entries', index, width: tileWidth(tree.size, index) });
    const bundle = await fetchFile(`${url}/tile/${path}`);
    if (!bundle && isPublished) throw new LogUnreachable(`${url}/tile/${path} does not exist (404)`);
    if (!bundle) return;
    bytes += bundle.length;
    const [entries, leaves] = [split(bundle), await leavesOf(index)];
    const first = index * width;
    const wrong = leaves.findIndex((leaf, place) => !isOf(leaf, entries[place]));
    if (wrong >= 0)
      throw new VerificationError(
        'leaf_mismatch',
        `entry ${first + BigInt(wrong)} does not match its leaf in the tree`,
      );
    yield leaves
      .map((_, place) => ({ index: first + BigInt(place), entry: entries[place]! }))
      .filter((each) => each.index >= from);
  }
}

const isOf = (leaf: Uint8Array, entry: Uint8Array | undefined): boolean =>
  entry !== undefined && equalBytes(leafOf(entry), leaf);
