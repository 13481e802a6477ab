import { type AnchorDeps, anchorWindows } from '../../../src/archivist/chain/anchor-windows.js';
import { extendChain } from '../../../src/archivist/chain/extend-chain.js';
import { type Failpoints, noFailpoints } from '../../../src/ledger/failpoints.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import type { TestService } from '../../api/test-service.js';

const never = () => false;

/** Where the process would have died. */
export class Crash extends Error {}

/** Failpoints of which one throws, each time it is reached. */
export function crashAt(name: string): Failpoints {
  return {
    reach: async (reached) => {
      if (reached === name) throw new Crash(name);
    },
  };
}

/** The anchor job of a started service, run by hand, on any failpoints. */
export function anchorRig({ service }: Pick<TestService, 'service'>, objectsDir: string) {
  const { database, deployment, keyring, clock } = service.parts;
  const deps = (failpoints: Failpoints, over: Partial<AnchorDeps> = {}) => ({
    database,
    objectStore: fileObjectStore(objectsDir),
    deployment,
    clock,
    keyring,
    logger: createLogger('silent'),
    failpoints,
    marginSeconds: 0,
    ...over,
  });
  return {
    database,
    deployment,
    anchor: (failpoints = noFailpoints, over: Partial<AnchorDeps> = {}) => anchorWindows(deps(failpoints, over), never),
    extend: (failpoints = noFailpoints, stopping = never) => extendChain(deps(failpoints), stopping),
  };
}

/** Everything that the chain has, read behind the service. */
export async function readAll(database: Database) {
  return database.inTransaction('system', async (tx) => ({
    blocks: await tx.query<{ block_number: bigint; block_hash: Uint8Array; header: Uint8Array; next_nonce: bigint }>(
      'SELECT block_number, block_hash, header, next_nonce FROM archivist.chain_block ORDER BY block_number',
    ),
    transactions: await tx.query<{ kind: string; tenant_id: string; number: bigint; signed: Uint8Array }>(
      `SELECT kind, tenant_id, number, signed FROM archivist.chain_transaction
        ORDER BY block_number, transaction_index`,
    ),
    anchors: await tx.query<{ tenant_id: string; start_time: Date; end_time: Date; event_count: bigint }>(
      'SELECT tenant_id, start_time, end_time, event_count FROM archivist.anchor ORDER BY tenant_id, anchor_number',
    ),
    seals: await tx.query<{ tenant_id: string; number: bigint }>(
      `SELECT s.tenant_id, s.seal_number AS number FROM archivist.seal s JOIN archivist.log g
         ON g.tenant_id = s.tenant_id AND g.log_id = s.log_id AND s.seal_number <= g.published_number
        WHERE g.log_id = g.tenant_id ORDER BY 1, 2`,
    ),
    waiting: await tx.query('SELECT FROM archivist.simple_hash_event WHERE anchor_number IS NULL'),
  }));
}
