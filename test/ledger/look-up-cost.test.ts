import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { committedEntryIds } from '../../src/ledger/leaf-store.js';
import { growTenancy } from '../archivist/listing/grown-tenancy.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { watchedRows } from '../support/watched-rows.js';

const LEAVES = 6_000;
const ASKED = 100;
const tenantId = '0190a8c0-0000-7000-8000-00000000002b';
const log = { tenantId, logId: tenantId };

describe.each(engines())('a log of 6,000 leaves, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await growTenancy(opened, { tenantId, events: LEAVES, start: Date.parse('2026-01-01T00:00:00Z') });
  });
  afterAll(() => opened?.close());

  // Without statistics, the planner expects two leaves of a log where it counts thirty times as many in all.
  it.each([LEAVES, 30 * LEAVES])(
    'reads only the leaves of the entries that are asked for, if all logs were counted with %i',
    async (counted) => {
      const ofLeaves = "'archivist.leaf'::regclass";
      await opened.asOwner(`DELETE FROM pg_statistic WHERE starelid = ${ofLeaves}`);
      await opened.asOwner(`UPDATE pg_class SET reltuples = ${counted} WHERE oid = ${ofLeaves}`);
      await opened.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
        const oldest = await tx.query<{ entry_id: string }>(
          'SELECT entry_id FROM archivist.leaf ORDER BY leaf_index LIMIT $1',
          [ASKED],
        );
        const ids = oldest.map(({ entry_id: id }) => id);
        const watched = watchedRows(tx);
        expect((await committedEntryIds(watched.tx, log, ids)).size).toBe(ASKED);
        expect(watched.read('leaf')).toBe(ASKED);
      });
    },
  );
});
