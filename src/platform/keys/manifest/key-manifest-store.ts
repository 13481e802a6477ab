import type { Tx } from '../../postgres/database.js';

/** A process that has not been seen for so long is taken for ended. */
const FOLLOWER_SECONDS = 60;

export interface KeyManifestRow {
  readonly number: bigint;
  /** In the keys log. */
  readonly entryId: string;
  readonly manifest: Uint8Array;
}

/** Stores a manifest, unless there is one of its number. Answers whether it was stored. */
export async function insertKeyManifest(tx: Tx, tenantId: string, row: KeyManifestRow): Promise<boolean> {
  const stored = await tx.execute(
    `INSERT INTO archivist.key_manifest (tenant_id, number, entry_id, manifest) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [tenantId, row.number, row.entryId, row.manifest],
  );
  return stored === 1;
}

/** Stored manifests from a number on, in the order of their numbers. */
export function listKeyManifests(tx: Tx, tenantId: string, from: bigint, limit = 1000): Promise<KeyManifestRow[]> {
  return tx.query<KeyManifestRow>(
    `SELECT number, entry_id AS "entryId", manifest FROM archivist.key_manifest
      WHERE tenant_id = $1 AND number >= $2 ORDER BY number LIMIT $3`,
    [tenantId, from, limit],
  );
}

/** Remembers which manifest a process has adopted, and that it is alive. */
export async function putKeyFollower(tx: Tx, tenantId: string, processId: string, number: bigint): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.key_follower (tenant_id, process_id, number, seen_at)
     VALUES ($1, $2, $3, clock_timestamp())
     ON CONFLICT (tenant_id, process_id) DO UPDATE SET number = EXCLUDED.number, seen_at = EXCLUDED.seen_at`,
    [tenantId, processId, number],
  );
}

/** Forgets a process that ends, and those that have not been seen for a day. */
export async function removeKeyFollower(tx: Tx, tenantId: string, processId: string): Promise<void> {
  await tx.execute(
    `DELETE FROM archivist.key_follower
      WHERE tenant_id = $1 AND (process_id = $2 OR seen_at < clock_timestamp() - interval '1 day')`,
    [tenantId, processId],
  );
}

/** How many live processes have not adopted a manifest yet. */
export async function countBehind(tx: Tx, tenantId: string, number: bigint): Promise<number> {
  const [row] = await tx.query<{ behind: bigint }>(
    `SELECT count(*) AS behind FROM archivist.key_follower
      WHERE tenant_id = $1 AND number < $2 AND seen_at > clock_timestamp() - make_interval(secs => $3)`,
    [tenantId, number, FOLLOWER_SECONDS],
  );
  return Number(row!.behind);
}

/** Any number; whoever makes a manifest asks for the same one. */
const MANIFEST_LOCK = 7_364_922;

/** Waits until no other transaction makes a manifest; the lock ends with the transaction. */
export async function lockKeyManifests(tx: Tx): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [MANIFEST_LOCK]);
}
