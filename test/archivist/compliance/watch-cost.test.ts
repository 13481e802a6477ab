import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetsOfEvents } from '../../../src/archivist/compliance/compliance-watch-store.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { watchedRows } from '../../support/watched-rows.js';
import { growTenancy } from '../listing/grown-tenancy.js';

const EVENTS = 6_000;
const tenantId = '0190a8c0-0000-7000-8000-00000000002a';
/** Events that one step of the watch looks at. */
const STEP = 100;

describe.each(engines())('the watch of compliance in a tenancy of 6,000 events, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await growTenancy(opened, { tenantId, events: EVENTS, start: Date.parse('2026-01-01T00:00:00Z') });
  });
  afterAll(() => opened?.close());

  // Without statistics, as before the server has made them or after a restore.
  it.each([EVENTS, EVENTS / 6])(
    'reads only the new events to find their assets, if the table was last counted with %i rows',
    async (counted) => {
      const ofEvents = "'archivist.asset_event'::regclass";
      await opened.asOwner(`DELETE FROM pg_statistic WHERE starelid = ${ofEvents}`);
      await opened.asOwner(`UPDATE pg_class SET reltuples = ${counted} WHERE oid = ${ofEvents}`);
      await opened.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
        const newest = await tx.query<{ event_id: string; asset_id: string }>(
          'SELECT event_id, asset_id FROM archivist.asset_event ORDER BY event_id DESC LIMIT $1',
          [STEP],
        );
        const watched = watchedRows(tx);
        const ids = newest.map(({ event_id: id }) => id);
        const assets = await assetsOfEvents(watched.tx, tenantId, ids);
        expect([...assets.keys()].sort()).toEqual([...new Set(newest.map(({ asset_id: id }) => id))].sort());
        expect(watched.read('asset_event')).toBe(STEP);
      });
    },
  );
});
