import { names } from '../../platform/postgres/columns.js';
import type { OwnerClient } from '../../platform/postgres/table-copy-store.js';

/** An open fork of a log, as its row has it. */
interface CopiedFork {
  readonly generation: number;
  readonly seal_number: string;
  readonly leaves: string;
  readonly entry_id: string;
}

/** How far a log was in a copy. */
export interface CopiedLog {
  readonly log: string;
  readonly name: string;
  readonly structure: string;
  readonly massifLeaves: number;
  readonly leaves: number;
  readonly sealNumber: number;
  readonly publishedNumber: number;
  /** Leaves under the newest published seal. */
  readonly publishedLeaves: number;
  /** Generations that the log was forked into openly, each with the last seal before it. */
  readonly forks?: readonly CopiedFork[] | undefined;
}

/** What decides which objects belong to a copy. */
export interface CopiedState {
  readonly deployment: string;
  readonly logs: readonly CopiedLog[];
  /** `<tenancy>/<blob>` of each blob. */
  readonly blobs: ReadonlySet<string>;
  readonly lastBlock: number;
  readonly lastManifest: number;
}

/** The state of a copy's database, and the objects that the copy must therefore have. */
export interface CopiedDatabase extends CopiedState {
  readonly keysLog: string;
  /** Numbers of the chain's blocks: an open fork left some out. */
  readonly blocks: readonly number[];
}

/** Key of the lock of a database that is being copied or filled. */
const COPY_LOCK = 7_262_031_950;

/**
 * Locks a server's database for one backup, restore or move until the connection ends; false if another one holds the lock.
 * If the machine of its holder is lost, the server notices that within a minute.
 */
export async function lockCopying(client: OwnerClient): Promise<boolean> {
  await client.query(
    `SELECT set_config('tcp_keepalives_idle', '20', false), set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false)`,
  );
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [COPY_LOCK]);
  return rows[0]!.locked;
}

/** Reads the state in the transaction that the copy is made in. Undefined if no service has started on this database. */
export async function copiedState(client: OwnerClient): Promise<CopiedDatabase | undefined> {
  const deployment = await client.query<{ id: string; keysLog: string }>(
    'SELECT deployment_tenancy AS id, keys_log AS "keysLog" FROM archivist.deployment',
  );
  if (!deployment.rows[0]) return undefined;
  const logs = await client.query<CopiedLog>(
    `SELECT log.log_id AS log, log.name, log.structure, (1 << (log.massif_height - 1)) AS "massifLeaves",
       log.leaves::float8 AS leaves, log.seal_number::float8 AS "sealNumber",
       log.published_number::float8 AS "publishedNumber", coalesce(seal.leaves, 0)::float8 AS "publishedLeaves", log.forks
       FROM archivist.log
       LEFT JOIN archivist.seal ON seal.tenant_id = log.tenant_id AND seal.log_id = log.log_id
        AND seal.seal_number = log.published_number
      ORDER BY log.log_id`,
  );
  const blobs = await client.query<{ key: string }>(`SELECT tenant_id || '/' || blob_id AS key FROM archivist.blob`);
  const blocks = await client.query<{ number: number }>(
    'SELECT block_number::float8 AS number FROM archivist.chain_block ORDER BY block_number',
  );
  const last = await client.query<{ manifest: number }>(
    'SELECT coalesce(max(number), 0)::float8 AS manifest FROM archivist.key_manifest',
  );
  return {
    deployment: deployment.rows[0].id,
    keysLog: deployment.rows[0].keysLog,
    logs: logs.rows.map(({ forks = [], ...log }) => (forks.length > 0 ? { ...log, forks } : log)),
    blobs: new Set(blobs.rows.map(({ key }) => key)),
    blocks: blocks.rows.map(({ number }) => number),
    lastBlock: blocks.rows.at(-1)?.number ?? 0,
    lastManifest: last.rows[0]!.manifest,
  };
}

/** Halts a log. The sequencer signs nothing for a halted log. */
export async function haltCopiedLog(client: OwnerClient, log: string, reason: string): Promise<void> {
  const { log_id: id, halted } = names('log');
  await client.query(`UPDATE archivist.log SET ${halted} = $2 WHERE ${id} = $1 AND ${halted} IS NULL`, [log, reason]);
}
