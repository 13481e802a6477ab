import { uint64FromBytes, uint64ToBytes } from '../core/bytes.js';
import { selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertsOf } from '../platform/postgres/insert-rows.js';
import type { WaitingEntry } from './leaf-source.js';
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

interface StoredLeaf extends LogRef, Omit<LeafRow, 'idtimestamp'> {
  readonly idtimestamp: Uint8Array;
}

const LEAF = table('leaf').columns<StoredLeaf>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  leafIndex: 'leaf_index',
  entryId: 'entry_id',
  entryKind: 'entry_kind',
  entryTenantId: 'entry_tenant_id',
  idtimestamp: 'idtimestamp',
  timestampCommitted: 'timestamp_committed',
  trieKey: 'trie_key',
  extraBytes: 'extra_bytes',
});

/** Adds leaves; an index or an entry that the log already has is a database error (23505). */
export function insertLeaves({ tenantId, logId }: LogRef, leaves: readonly LeafRow[]): SqlStatement[] {
  // Member by member: V8 makes a hidden class for each row that begins with a spread, a hundred times the cost (Node 20).
  const rows = leaves.map((leaf) => ({
    tenantId,
    logId,
    leafIndex: leaf.leafIndex,
    entryId: leaf.entryId,
    entryKind: leaf.entryKind,
    entryTenantId: leaf.entryTenantId,
    idtimestamp: uint64ToBytes(leaf.idtimestamp),
    timestampCommitted: leaf.timestampCommitted,
    trieKey: leaf.trieKey,
    extraBytes: leaf.extraBytes,
  }));
  return [...insertsOf(LEAF, rows)];
}

/** A full massif has 8,192 leaves; on the embedded engine nothing else is served while a statement runs. */
const LEAVES_AT_ONCE = 1_000n;

/** Leaves `from` (included) to `to` (excluded), in order: by a statement for each 1,000 of them, all sent at once. */
export async function leafRange(tx: Tx, log: LogRef, from: bigint, to: bigint): Promise<LeafRow[]> {
  const portions: Promise<LeafRow[]>[] = [];
  for (let first = from; first < to; first += LEAVES_AT_ONCE) {
    const end = first + LEAVES_AT_ONCE;
    portions.push(readLeaves(tx, log, first, end < to ? end : to));
  }
  await Promise.allSettled(portions);
  return (await Promise.all(portions)).flat();
}

async function readLeaves(tx: Tx, log: LogRef, from: bigint, to: bigint): Promise<LeafRow[]> {
  const rows = await tx.query<StoredLeaf>(
    `SELECT ${selected(LEAF, 'l')} FROM archivist.leaf l
      WHERE l.tenant_id = $1 AND l.log_id = $2 AND l.leaf_index >= $3 AND l.leaf_index < $4 ORDER BY l.leaf_index`,
    [log.tenantId, log.logId, from, to],
  );
  return rows.map((row) => ({ ...row, idtimestamp: uint64FromBytes(row.idtimestamp) }));
}

/**
 * What follows FROM, to read as `leaf` the leaf that a log ($1, $2) has of each of these entries ($3), and as `asked` the
 * entry. A statement still has to ask for `leaf.entry_id = asked.id`: from that, the planner expects few rows. It looks up
 * each entry by the index of entries, because only that one has them in order. If the look-up asked for equality, it read
 * all leaves of the log for each entry where it had no statistics; without the upper bound, it could read all newer ones.
 */
export const LEAVES_OF_ENTRIES = `unnest($3::uuid[]) AS asked(id) CROSS JOIN LATERAL (
         SELECT * FROM archivist.leaf
          WHERE tenant_id = $1 AND log_id = $2 AND entry_id >= asked.id AND entry_id <= asked.id
          ORDER BY entry_id LIMIT 1) AS leaf`;

/** Which of these entries the log has already committed. */
export async function committedEntryIds(tx: Tx, log: LogRef, entryIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ entry_id: string }>(
    `SELECT leaf.entry_id FROM ${LEAVES_OF_ENTRIES} WHERE leaf.entry_id = asked.id`,
    [log.tenantId, log.logId, entryIds],
  );
  return new Set(rows.map((row) => row.entry_id));
}
