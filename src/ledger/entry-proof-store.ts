import { uint64FromBytes } from '../core/bytes.js';
import type { Tx } from '../platform/postgres/database.js';
import type { EntryKind } from './leaf-source.js';
import { LEAVES_OF_ENTRIES } from './leaf-store.js';
import type { LogRef } from './log.js';

/** A committed entry with the first published seal that covers it, if there is one yet. */
export interface PlacedEntry {
  readonly entryId: string;
  readonly leafIndex: bigint;
  readonly idtimestamp: bigint;
  readonly timestampCommitted: string;
  /** Covered by a seal below a checkpoint that a quorum of witnesses cosigned. */
  readonly witnessed: boolean;
  readonly seal?: {
    readonly sealNumber: bigint;
    readonly size: bigint;
    readonly leaves: bigint;
    readonly keyId: string;
    readonly sealedAtMs: bigint;
    readonly root: Uint8Array;
  };
}

interface PlacedRow {
  entry_id: string;
  leaf_index: bigint;
  idtimestamp: Uint8Array;
  timestamp_committed: string;
  witnessed: boolean;
  seal_number: bigint | null;
  size: bigint;
  leaves: bigint;
  key_id: string;
  sealed_at_ms: bigint;
  root: Uint8Array;
}

function placedEntry(row: PlacedRow): PlacedEntry {
  const { seal_number: sealNumber, size, leaves, key_id: keyId, sealed_at_ms: sealedAtMs, root } = row;
  return {
    entryId: row.entry_id,
    leafIndex: row.leaf_index,
    idtimestamp: uint64FromBytes(row.idtimestamp),
    timestampCommitted: row.timestamp_committed,
    witnessed: row.witnessed,
    ...(sealNumber === null ? {} : { seal: { sealNumber, size, leaves, keyId, sealedAtMs, root } }),
  };
}

/** The places of these entries of one kind in one log; waiting entries are left out. */
export async function placedEntries(
  tx: Tx,
  log: LogRef,
  kind: EntryKind,
  entryIds: readonly string[],
): Promise<PlacedEntry[]> {
  const rows = await tx.query<PlacedRow>(
    `SELECT leaf.entry_id, leaf.leaf_index, leaf.idtimestamp, leaf.timestamp_committed,
            leaf.leaf_index < log.witnessed_leaves AS witnessed,
            first.seal_number, first.size, first.leaves, first.key_id, first.sealed_at_ms, first.root
       FROM ${LEAVES_OF_ENTRIES}
       JOIN archivist.log ON log.tenant_id = leaf.tenant_id AND log.log_id = leaf.log_id
       LEFT JOIN LATERAL (
         SELECT seal.seal_number, seal.size, seal.leaves, seal.key_id, seal.sealed_at_ms, seal.root
           FROM archivist.seal
          WHERE seal.tenant_id = leaf.tenant_id AND seal.log_id = leaf.log_id AND seal.leaves > leaf.leaf_index
          ORDER BY seal.leaves LIMIT 1) first ON first.seal_number <= log.published_number
      WHERE leaf.entry_id = asked.id AND leaf.entry_kind = $4`,
    [log.tenantId, log.logId, entryIds, kind],
  );
  return rows.map(placedEntry);
}

/** Where a published seal proves an entry: the input of a receipt. */
export interface SealedPlace {
  readonly entryId: string;
  readonly leafIndex: bigint;
  /** A published seal that covers the entry, the leaves under it and the key that signed it. */
  readonly sealNumber: bigint;
  readonly leaves: bigint;
  readonly keyId: string;
}

const OF_PLACE = `leaf.entry_id AS "entryId", leaf.leaf_index AS "leafIndex", first.seal_number AS "sealNumber",
            first.leaves AS "leaves", first.key_id AS "keyId"`;

/**
 * The first published seal over each of these entries; one that no published seal covers is left out. Ordered by leaf, with
 * only what receipts need.
 */
export function sealedPlaces(tx: Tx, log: LogRef, entryIds: readonly string[]): Promise<SealedPlace[]> {
  return tx.query<SealedPlace>(
    `SELECT ${OF_PLACE}
       FROM ${LEAVES_OF_ENTRIES}
       JOIN archivist.log ON log.tenant_id = leaf.tenant_id AND log.log_id = leaf.log_id
      CROSS JOIN LATERAL (
         SELECT seal.seal_number, seal.leaves, seal.key_id
           FROM archivist.seal
          WHERE seal.tenant_id = leaf.tenant_id AND seal.log_id = leaf.log_id AND seal.leaves > leaf.leaf_index
          ORDER BY seal.leaves LIMIT 1) first
      WHERE leaf.entry_id = asked.id AND first.seal_number <= log.published_number
      ORDER BY leaf.leaf_index`,
    [log.tenantId, log.logId, entryIds],
  );
}

/** The same for the first published seal by one of these keys. */
export function sealedPlacesUnder(
  tx: Tx,
  log: LogRef,
  entryIds: readonly string[],
  keys: readonly string[],
): Promise<SealedPlace[]> {
  return tx.query<SealedPlace>(
    // One look-up for each key: a log can have any number of seals by a revoked one. Only the index seal_by_key has this
    // order; by equality, the planner could just as well read all seals of the log. After an open fork, the ids of keys have
    // a generation (sealKeyId).
    `SELECT ${OF_PLACE}
       FROM ${LEAVES_OF_ENTRIES}
       JOIN archivist.log ON log.tenant_id = leaf.tenant_id AND log.log_id = leaf.log_id
      CROSS JOIN LATERAL (
         SELECT by_key.*
           FROM unnest($4::text[]) AS counted(key)
          CROSS JOIN generate_series(0, coalesce((log.forks -> -1 ->> 'generation')::int, 0)) AS generation(g)
          CROSS JOIN LATERAL (SELECT counted.key || CASE g WHEN 0 THEN '' ELSE '.' || g END AS id) AS of_generation
          CROSS JOIN LATERAL (
           SELECT seal.seal_number, seal.leaves, seal.key_id
             FROM archivist.seal
            WHERE seal.tenant_id = leaf.tenant_id AND seal.log_id = leaf.log_id
              AND (seal.key_id, seal.leaves) > (of_generation.id, leaf.leaf_index)
            ORDER BY seal.key_id, seal.leaves LIMIT 1) by_key
          WHERE by_key.key_id = of_generation.id
          ORDER BY by_key.leaves LIMIT 1) first
      WHERE leaf.entry_id = asked.id AND first.seal_number <= log.published_number
      ORDER BY leaf.leaf_index`,
    [log.tenantId, log.logId, entryIds, keys],
  );
}
