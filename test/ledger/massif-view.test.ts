import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { leavesPerMassif } from '../../src/core/massif/massif-layout.js';
import { sha256 } from '../../src/core/sha256.js';
import { insertLeaves } from '../../src/ledger/leaf-store.js';
import { LogInconsistent } from '../../src/ledger/log-inconsistent.js';
import { createLog, findLog } from '../../src/ledger/log-store.js';
import { massifBytes } from '../../src/ledger/massif-view.js';
import { appendNodes, readNodeRange, readNodes, readOpenPage } from '../../src/ledger/node-page-store.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { knownLog } from '../core/massif/sample-log.js';
import { fixture } from '../core/mmr/shared-vectors.js';
import { engines } from '../support/engines.js';
import { type Opened, openEngine } from './test-engines.js';

const { digests } = fixture<{ digests: [number, number, number, string][] }>('massif/files.json');

describe.each(engines())('massif files out of pages and rows on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  it.each([2, 3, 4])('are byte for byte the published ones at height %i', async (massifHeight) => {
    const logId = randomUUID();
    const log = { tenantId: logId, logId };
    const known = knownLog();
    const built = await opened.database.inTransaction('system', async (tx) => {
      const createdAt = new Date();
      await createLog(tx, { ...log, structure: 'MMR_SHA256', name: `tenant/${logId}`, massifHeight, createdAt });
      const rows = insertLeaves(
        log,
        known.entries.map(({ key, extraBytes, idtimestamp }, leaf) => ({
          leafIndex: BigInt(leaf),
          entryId: randomUUID(),
          entryKind: 'asset_event',
          entryTenantId: logId,
          idtimestamp,
          timestampCommitted: '',
          trieKey: key,
          // Rows leave zeros out.
          extraBytes: extraBytes.some((byte) => byte !== 0) ? extraBytes : null,
        })),
      );
      await executeAll(tx, [...appendNodes(log, 0n, [], known.nodes), ...rows]);
      const state = (await findLog(tx, log))!;
      const views = [];
      for (const [height, massif, length, digest] of digests) {
        if (height !== massifHeight) continue;
        const view = (await massifBytes(tx, state, massif, BigInt(known.entries.length)))!;
        views.push([view.bytes.length, toHex(sha256(view.bytes))]);
        expect(views.at(-1)).toEqual([length, digest]);
        const end = (massif + 1) * leavesPerMassif(height);
        expect(view.full).toBe(end <= known.entries.length);
      }
      return views.length;
    });
    expect(built).toBeGreaterThan(1);
  });

  it('come from pages that hold what was appended, in batches of any size', async () => {
    const logId = randomUUID();
    const log = { tenantId: logId, logId };
    const nodes = Array.from({ length: 200 }, (_, index) => sha256(Uint8Array.of(index)));
    await opened.database.inTransaction('system', async (tx) => {
      let size = 0;
      for (const batch of [1, 30, 1, 1, 31, 32, 64, 33, 7]) {
        const openPage = await readOpenPage(tx, log, BigInt(size));
        await executeAll(tx, appendNodes(log, BigInt(size), openPage, nodes.slice(size, size + batch)));
        size += batch;
        expect((await readNodeRange(tx, log, 0n, BigInt(size))).map(toHex)).toEqual(nodes.slice(0, size).map(toHex));
      }
      expect(size).toBe(200);
      await expect(readNodeRange(tx, log, 190n, 201n)).rejects.toThrow('node 200 is not stored');
      const drawn = [199n, 3n, 64n, 3n, 0n, 31n];
      const nodeAt = await readNodes(tx, log, drawn);
      expect(drawn.map(nodeAt).map(toHex)).toEqual(drawn.map((index) => toHex(nodes[Number(index)]!)));
      await expect(readNodes(tx, log, [3n, 200n])).rejects.toThrow('of 2 nodes 1 are stored');
      await expect(readNodes(tx, log, [3n, 2n ** 40n])).rejects.toThrow(LogInconsistent);
    });
  });
});
