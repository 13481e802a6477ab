import { selected, table } from '../../postgres/columns.js';
import type { Tx } from '../../postgres/database.js';
import { insertInto, insertRows } from '../../postgres/insert-rows.js';
import { replacing } from '../../postgres/rows-by-key.js';

/** A process that has not been seen for this long counts as ended. */
const FOLLOWER_SECONDS = 60;

export interface KeyManifestRow {
  readonly number: bigint;
  /** Of its entry in the keys log. */
  readonly entryId: string;
  readonly manifest: Uint8Array;
}

const MANIFEST = table('key_manifest').columns<KeyManifestRow & { readonly tenantId: string }>({
  tenantId: 'tenant_id',
  number: 'number',
  entryId: 'entry_id',
  manifest: 'manifest',
});

/** A running process and the last manifest that it has adopted. */
interface KeyFollower {
  readonly tenantId: string;
  readonly processId: string;
  readonly number: bigint;
  readonly seenAt: Date;
}

const FOLLOWER = table('key_follower').columns<KeyFollower>({
  tenantId: 'tenant_id',
  processId: 'process_id',
  number: 'number',
  seenAt: 'seen_at',
});

/** Stores a manifest, unless one with its number exists. Returns whether it was stored. */
export async function insertKeyManifest(tx: Tx, tenantId: string, row: KeyManifestRow): Promise<boolean> {
  return (await insertRows(tx, MANIFEST, [{ ...row, tenantId }], 'ON CONFLICT DO NOTHING')) === 1;
}

/** Stored manifests from a number on, ordered by number: all of them unless a limit is given. */
export function listKeyManifests(
  tx: Tx,
  tenantId: string,
  from: bigint,
  limit: number | null = null,
): Promise<KeyManifestRow[]> {
  return tx.query<KeyManifestRow>(
    `SELECT ${selected(MANIFEST, 'm', ['number', 'entryId', 'manifest'])} FROM archivist.key_manifest m
      WHERE m.tenant_id = $1 AND m.number >= $2 ORDER BY m.number LIMIT $3`,
    [tenantId, from, limit],
  );
}

/** Records which manifest a process has adopted, and that it is alive. */
export async function putKeyFollower(tx: Tx, tenantId: string, processId: string, number: bigint): Promise<void> {
  await tx.execute(
    `${insertInto(FOLLOWER)} VALUES ($1, $2, $3, clock_timestamp())
     ${replacing(FOLLOWER, ['tenantId', 'processId'], ['number', 'seenAt'])}`,
    [tenantId, processId, number],
  );
}

/** Deletes the record of a process that ends, and records older than a day. */
export async function removeKeyFollower(tx: Tx, tenantId: string, processId: string): Promise<void> {
  await tx.execute(
    `DELETE FROM archivist.key_follower
      WHERE tenant_id = $1 AND (process_id = $2 OR seen_at < clock_timestamp() - interval '1 day')`,
    [tenantId, processId],
  );
}

/** The number of live processes that have not adopted a manifest yet. */
export async function countBehind(tx: Tx, tenantId: string, number: bigint): Promise<number> {
  const [row] = await tx.query<{ behind: bigint }>(
    `SELECT count(*) AS behind FROM archivist.key_follower
      WHERE tenant_id = $1 AND number < $2 AND seen_at > clock_timestamp() - make_interval(secs => $3)`,
    [tenantId, number, FOLLOWER_SECONDS],
  );
  return Number(row!.behind);
}

/** An arbitrary number, the same for every process that creates a manifest. */
const MANIFEST_LOCK = 7_364_922;

/** Waits until no other transaction creates a manifest; the lock ends with the transaction. */
export async function lockKeyManifests(tx: Tx): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [MANIFEST_LOCK]);
}
