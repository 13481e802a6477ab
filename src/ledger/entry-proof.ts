import { mmrIndex } from '../core/mmr/leaf-count.js';
import type { Tx } from '../platform/postgres/database.js';
import { type PlacedEntry, placedEntries } from './entry-proof-store.js';
import type { EntryKind } from './leaf-source.js';
import type { LogRef } from './log.js';

/**
 * Where an entry is in one log. Not in the map: waiting (STORED). Without `published`: COMMITTED. With it: CONFIRMED.
 */
export interface EntryCommit {
  readonly mmrIndex: bigint;
  readonly leafIndex: bigint;
  readonly idtimestamp: bigint;
  /** The exact text that the leaf covers; it is returned verbatim. */
  readonly timestampCommitted: string;
  /** A quorum of witnesses has cosigned a checkpoint above a seal that covers the entry. */
  readonly witnessed: boolean;
  /** The first published seal that covers the entry. */
  readonly published?: {
    readonly sealNumber: bigint;
    readonly size: bigint;
    readonly root: Uint8Array;
    readonly sealedAtMs: bigint;
  };
}

function entryCommit(entry: PlacedEntry): EntryCommit {
  const { leafIndex, idtimestamp, timestampCommitted, witnessed, seal } = entry;
  return {
    mmrIndex: mmrIndex(leafIndex),
    leafIndex,
    idtimestamp,
    timestampCommitted,
    witnessed,
    ...(seal
      ? { published: { sealNumber: seal.sealNumber, size: seal.size, root: seal.root, sealedAtMs: seal.sealedAtMs } }
      : {}),
  };
}

/**
 * The progress of these entries in one log, by entry id, in one query. Only leaves of their kind count: an id alone does
 * not tell an asset's event from an asset-free one.
 */
export async function commits(
  tx: Tx,
  log: LogRef,
  kind: EntryKind,
  entryIds: readonly string[],
): Promise<Map<string, EntryCommit>> {
  if (entryIds.length === 0) return new Map();
  const placed = await placedEntries(tx, log, kind, entryIds);
  return new Map(placed.map((entry) => [entry.entryId, entryCommit(entry)]));
}
