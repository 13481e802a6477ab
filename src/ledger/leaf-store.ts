import { uint64FromBytes, uint64ToBytes } from '../core/bytes.js';
import type { Tx } from '../platform/postgres/database.js';
import type { EntryKind, WaitingEntry } from './leaf-source.js';
import type { LogRef } from './log.js';

/** A committed entry's place in its log. */
export interface LeafRow extends WaitingEntry {
  readonly leafIndex: bigint;
  readonly idtimestamp: bigint;
  /** Set before the leaf is hashed; clients hash it verbatim. */
  readonly timestampCommitted: string;
  readonly trieKey: Uint8Array | null;
  readonly extraBytes: Uint8Array | null;
}

interface StoredLeaf {
  leaf_index: bigint;
  entry_id: string;
  entry_kind: EntryKind;
  entry_tenant_id: string;
  idtimestamp: Uint8Array;
  timestamp_committed: string;
  trie_key: Uint8Array | null;
  extra_bytes: Uint8Array | null;
}

const COLUMNS =
  'leaf_index, entry_id, entry_kind, entry_tenant_id, idtimestamp, timestamp_committed, trie_key, extra_bytes';

const leafRow = (row: StoredLeaf): LeafRow => ({
  leafIndex: row.leaf_index,
  entryId: row.entry_id,
  entryKind: row.entry_kind,
  entryTenantId: row.entry_tenant_id,
  idtimestamp: uint64FromBytes(row.idtimestamp),
  timestampCommitted: row.timestamp_committed,
  trieKey: row.trie_key,
  extraBytes: row.extra_bytes,
});

/** Adds leaves; an index or an entry that the log already has is a database error (23505). */
export async function insertLeaves(tx: Tx, log: LogRef, leaves: readonly LeafRow[]): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.leaf (tenant_id, log_id, ${COLUMNS})
     SELECT $1::uuid, $2::uuid, new.* FROM unnest(
       $3::bigint[], $4::uuid[], $5::text[], $6::uuid[], $7::bytea[], $8::text[], $9::bytea[], $10::bytea[]) AS new`,
    [
      log.tenantId,
      log.logId,
      leaves.map((leaf) => leaf.leafIndex),
      leaves.map((leaf) => leaf.entryId),
      leaves.map((leaf) => leaf.entryKind),
      leaves.map((leaf) => leaf.entryTenantId),
      leaves.map((leaf) => uint64ToBytes(leaf.idtimestamp)),
      leaves.map((leaf) => leaf.timestampCommitted),
      leaves.map((leaf) => leaf.trieKey),
      leaves.map((leaf) => leaf.extraBytes),
    ],
  );
}

/** Leaves `from` (included) to `to` (excluded), in order. */
export async function leafRange(tx: Tx, log: LogRef, from: bigint, to: bigint): Promise<LeafRow[]> {
  const rows = await tx.query<StoredLeaf>(
    `SELECT ${COLUMNS} FROM archivist.leaf
      WHERE tenant_id = $1 AND log_id = $2 AND leaf_index >= $3 AND leaf_index < $4 ORDER BY leaf_index`,
    [log.tenantId, log.logId, from, to],
  );
  return rows.map(leafRow);
}

/** Which of these entries the log has already committed. */
export async function committedEntryIds(tx: Tx, log: LogRef, entryIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ entry_id: string }>(
    // One look-up per entry, by its whole key: with a list in the condition, the planner sometimes read the whole log.
    `SELECT found.entry_id FROM unnest($3::uuid[]) AS asked(id) CROSS JOIN LATERAL (
       SELECT entry_id FROM archivist.leaf WHERE tenant_id = $1 AND log_id = $2 AND entry_id = asked.id LIMIT 1) AS found`,
    [log.tenantId, log.logId, entryIds],
  );
  return new Set(rows.map((row) => row.entry_id));
}
