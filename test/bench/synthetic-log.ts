import { createHash, randomUUID } from 'node:crypto';
import type { Signer } from '../../src/core/cose/signature.js';
import { appendLeaves } from '../../src/core/mmr/append-leaves.js';
import { peaks as peakIndices } from '../../src/core/mmr/peaks.js';
import { peakReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { type LogRef, parentHash } from '../../src/ledger/log.js';
import { createLog } from '../../src/ledger/log-store.js';
import { appendNodes, readOpenPage } from '../../src/ledger/node-page-store.js';
import { insertPeakReceipts, insertSeal } from '../../src/ledger/seal-store.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';

const CHUNK = 16_384;
const KEY = 'bench';

/** A log of any number of leaves with a published seal over all of them, as the ledger would have left it. */
export interface SyntheticLog extends LogRef {
  readonly leaves: number;
  entryId(leaf: number): string;
}

const entryId = (leaf: number) => `0190a8c0-0000-7000-8000-${leaf.toString(16).padStart(12, '0')}`;

export async function createSyntheticLog(database: Database, leaves: number, signer: Signer): Promise<SyntheticLog> {
  const log = { tenantId: randomUUID(), logId: randomUUID() };
  const name = `bench/${log.logId}`;
  await database.inTransaction('system', (tx) =>
    createLog(tx, { ...log, structure: 'MMR_SHA256', name, massifHeight: 14, createdAt: new Date() }),
  );
  let state = { size: 0n, peaks: [] as Uint8Array[] };
  for (let first = 0; first < leaves; first += CHUNK) {
    const hashes = Array.from(
      { length: Math.min(CHUNK, leaves - first) },
      (_, place) =>
        new Uint8Array(
          createHash('sha256')
            .update(String(first + place))
            .digest(),
        ),
    );
    const appended = appendLeaves(parentHash('MMR_SHA256'), state.size, state.peaks, hashes);
    const { size } = state;
    await database.inTransaction('system', async (tx) =>
      executeAll(tx, appendNodes(log, size, await readOpenPage(tx, log, size), appended.nodes)),
    );
    state = { size: appended.size, peaks: appended.peaks };
  }
  const claims = { issuer: 'https://archivist.example', subject: name };
  const indices = peakIndices(state.size);
  const receipts = new Map<bigint, Uint8Array>();
  for (const [place, index] of indices.entries())
    receipts.set(index, await peakReceipt(state.peaks[place]!, signer, claims));
  await database.inTransaction('system', async (tx) => {
    const seal = { sealNumber: 1n, size: state.size, leaves: BigInt(leaves), keyId: KEY, sealedAtMs: 0n };
    await executeAll(tx, [
      ...insertPeakReceipts(log, KEY, receipts),
      ...insertSeal(log, { ...seal, root: new Uint8Array(32), signed: new Uint8Array(1) }),
    ]);
    const values = [log.tenantId, log.logId, leaves];
    await tx.execute(
      `INSERT INTO archivist.leaf (tenant_id, log_id, leaf_index, entry_id, entry_kind, entry_tenant_id, idtimestamp, timestamp_committed)
       SELECT $1::uuid, $2::uuid, n, ('0190a8c0-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'asset_event', $1::uuid,
              int8send(n), '2026-01-01T00:00:00.000Z' FROM generate_series(0, $3::bigint - 1) AS n`,
      values,
    );
    await tx.execute(
      `UPDATE archivist.log SET size = $3, leaves = $4, seal_number = 1, sealed_size = $3, published_number = 1, published_size = $3
        WHERE tenant_id = $1 AND log_id = $2`,
      [log.tenantId, log.logId, state.size, leaves],
    );
  });
  return { ...log, leaves, entryId };
}
