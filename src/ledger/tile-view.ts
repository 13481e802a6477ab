import { concatBytes } from '../core/bytes.js';
import { leafCount, mmrIndex } from '../core/mmr/leaf-count.js';
import { hashesAtLevel, TILE_WIDTH } from '../core/tlog/tile.js';
import type { Tx } from '../platform/postgres/database.js';
import { leafRange } from './leaf-store.js';
import type { LogRef } from './log.js';
import { endOfGeneration } from './log-generations.js';
import { LogInconsistent } from './log-inconsistent.js';
import { findLog } from './log-store.js';
import { readNodes } from './node-page-store.js';
import { statementEntries } from './statement-store.js';

/** `width` hashes or entries, from the tile's first on. */
interface TileRange {
  readonly index: bigint;
  readonly width: number;
}

const MOST_ENTRY_BYTES = 0xffff;

/** Entries under the newest published seal of a statement log, or of a generation of it that ended. */
async function publishedLeaves(tx: Tx, ref: LogRef, generation: number | undefined): Promise<bigint> {
  const log = await findLog(tx, ref);
  if (log && generation !== undefined) return endOfGeneration(log, generation)?.leaves ?? 0n;
  return log?.structure === 'RFC9162_SHA256' ? leafCount(log.publishedSize) : 0n;
}

function ends({ index, width }: TileRange): { first: bigint; end: bigint } {
  const first = index * BigInt(TILE_WIDTH);
  return { first, end: first + BigInt(width) };
}

/**
 * The hashes of a tile of a statement log (C2SP tlog-tiles), read from its node pages: at level n, one hash per
 * complete subtree of 256^n entries. Always the same bytes. Undefined beyond the newest published seal.
 * @param generation one that ended; default: the newest
 */
export async function tileBytes(
  tx: Tx,
  ref: LogRef,
  level: number,
  range: TileRange,
  generation?: number,
): Promise<Uint8Array | undefined> {
  const { first, end } = ends(range);
  if (end > hashesAtLevel(await publishedLeaves(tx, ref, generation), level)) return undefined;
  const height = 8n * BigInt(level);
  // A subtree's root follows its last leaf and the parents below it.
  const indices = Array.from({ length: range.width }, (_, place) => {
    const lastLeaf = ((first + BigInt(place) + 1n) << height) - 1n;
    return mmrIndex(lastLeaf) + height;
  });
  const nodeAt = await readNodes(tx, ref, indices);
  return concatBytes(...indices.map(nodeAt));
}

/**
 * The entries under a tile of level 0, each prefixed with its length in two bytes. Undefined beyond the newest
 * published seal, or if an entry is too long for the format.
 * @param generation one that ended; default: the newest
 */
export async function entryBundle(
  tx: Tx,
  ref: LogRef,
  range: TileRange,
  generation?: number,
): Promise<Uint8Array | undefined> {
  const { first, end } = ends(range);
  if (end > (await publishedLeaves(tx, ref, generation))) return undefined;
  const leaves = await leafRange(tx, ref, first, end);
  const stored = await statementEntries(
    tx,
    leaves.map((leaf) => ({ tenantId: leaf.entryTenantId, eventId: leaf.entryId })),
  );
  const byId = new Map(stored.map(({ eventId, entry }) => [eventId, entry]));
  const parts: Uint8Array[] = [];
  for (const { entryId, leafIndex } of leaves) {
    const entry = byId.get(entryId);
    if (!entry) throw new LogInconsistent(`entry ${leafIndex} is not stored`);
    if (entry.length > MOST_ENTRY_BYTES) return undefined;
    parts.push(Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry);
  }
  return concatBytes(...parts);
}
