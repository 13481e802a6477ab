import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOfAssets, type StatedEvent } from '../../../src/archivist/audit/statement-audit-store.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { watchedRows } from '../../support/watched-rows.js';
import { type GrownTenancy, growTenancy } from '../listing/grown-tenancy.js';

const TENANCY: GrownTenancy = {
  tenantId: '0190a8c0-0000-7000-8000-00000000001c',
  events: 2_000,
  start: Date.parse('2026-01-01T00:00:00Z'),
};
const PAGE = 100;
const BEFORE_ALL = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  eventId: '00000000-0000-0000-0000-000000000000',
};

describe.each(engines())('the audit of statements, on %s', (engine) => {
  let opened: TestDatabase;
  let last: string;
  beforeAll(async () => {
    opened = await engine.open();
    await growTenancy(opened, TENANCY);
    const [row] = await opened.asOwner(
      'SELECT event_id::text AS id FROM archivist.asset_event ORDER BY tenant_id DESC, event_id DESC LIMIT 1',
    );
    last = String(row!['id']);
    await opened.asOwner(`UPDATE archivist.asset_event SET event_attributes = '{}' WHERE event_id <> $1::uuid`, [last]);
  });
  afterAll(() => opened?.close());

  it('reads one page after another, and not on to the next vCon operation', async () => {
    const pages: StatedEvent[][] = [];
    for (let after = BEFORE_ALL; pages.at(-1)?.length !== 0; after = pages.at(-1)!.at(-1) ?? after)
      pages.push(await opened.database.inTransaction('system', (tx) => eventsOfAssets(tx, after, PAGE)));
    const events = pages.flat();
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(TENANCY.events);
    expect(events.filter(({ attributes }) => attributes !== null).map(({ eventId }) => eventId)).toEqual([last]);
    const read = await opened.database.inTransaction('system', async (tx) => {
      const watched = watchedRows(tx);
      await eventsOfAssets(watched.tx, BEFORE_ALL, PAGE);
      return watched.read('asset_event');
    });
    expect(read).toBe(PAGE);
  });
});
