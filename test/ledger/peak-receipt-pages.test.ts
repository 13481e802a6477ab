import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedPeakReceipts } from '../../src/ledger/audit/audit-store.js';
import { engines } from '../support/engines.js';
import { type Opened, openEngine } from './test-engines.js';

describe.each(engines())('signatures over peaks in pages, on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  it('are all read when a page ends between two keys of one node', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    await opened.asOwner(
      `INSERT INTO archivist.peak_receipt (tenant_id, log_id, node_index, key_id, receipt)
       SELECT $1, $2, node, key, '\\x00' FROM generate_series(0, 1) AS node, unnest(ARRAY['a', 'b', 'c']) AS key`,
      [log.tenantId, log.logId],
    );
    const read: string[] = [];
    await rig.database.inTransaction('system', async (tx) => {
      for (let after = { nodeIndex: -1n, keyId: '' }; ; ) {
        const page = await storedPeakReceipts(tx, log, after, 2);
        if (page.length === 0) return;
        read.push(...page.map(({ nodeIndex, keyId }) => `${nodeIndex} ${keyId}`));
        after = page.at(-1)!;
      }
    });
    expect(read).toEqual(['0 a', '0 b', '0 c', '1 a', '1 b', '1 c']);
  });
});
