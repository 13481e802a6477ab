import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetEventConditions, EVERY_ATTRIBUTE } from '../../../src/archivist/events/asset-event-filter-store.js';
import { countAssetEvents, listAssetEvents } from '../../../src/archivist/events/asset-event-store.js';
import { assetEventsOf } from '../../../src/archivist/events/asset-event-visibility-store.js';
import { withinParent } from '../../../src/archivist/listing/within-parent.js';
import { condition, meaning } from '../../../src/platform/listing/condition.js';
import type { Filters } from '../../../src/platform/listing/list-query.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { watchedRows } from '../../support/watched-rows.js';

const tenantId = '0190a8c0-0000-7000-8000-00000000003a';
const LARGE = '0190a8c0-0000-7000-8000-0000000000f1';
const SMALL = '0190a8c0-0000-7000-8000-0000000000f2';
/** Every second event is of the large asset, which has more than are read first, and twenty are of the small one. */
const EVENTS = 13_000;
const PAGE = 50;
const CAP = 1001;

const TYPE: Filters = [['event_attributes.arc_display_type', 'of others']];
const SUBJECT: Filters = [['event_attributes.subject', 'of others']];
const ANCHORED: Filters = [['proof_mechanism', 'SIMPLE_HASH']];
const ABSENT: Filters = [['event_attributes.other', 'absent']];

/** Events of other assets have what the filters ask for; of the large asset and the small one, only the oldest one has. */
async function fill(opened: TestDatabase): Promise<void> {
  const id = (n: string) => `('0190a8c0-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
  const others = `CASE WHEN n < 2 OR n % 2 = 0 AND n >= 40 THEN 'of others' ELSE 'own' END`;
  await opened.asOwner(
    `INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
       event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared, timestamp_accepted,
       accepted_at, from_address)
     SELECT $1::uuid, ${id('n')}, CASE WHEN n % 2 = 1 THEN '${LARGE}'::uuid WHEN n < 40 THEN '${SMALL}'::uuid ELSE ${id('n + 1000000')} END,
       $1::uuid, 'Record', 'RecordEvidence', jsonb_build_object('arc_display_type', ${others}, 'subject', ${others}),
       '{}', '{}', '{}', '', '', now(), '' FROM generate_series(0, ${EVENTS - 1}) AS n`,
    [tenantId],
  );
  await opened.asOwner(
    `INSERT INTO archivist.simple_hash_event (tenant_id, event_id, accepted_at)
     SELECT tenant_id, event_id, accepted_at FROM archivist.asset_event WHERE display_type = 'of others' AND tenant_id = $1`,
    [tenantId],
  );
  for (const table of ['asset_event', 'simple_hash_event']) await opened.asOwner(`ANALYZE archivist.${table}`);
}

describe.each(engines())('the list of one asset’s events, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await fill(opened);
  });
  afterAll(() => opened?.close());

  const reading = <T>(work: (tx: Tx) => Promise<T>) =>
    opened.database.inTransaction({ read: [tenantId], write: [] }, work);
  const conditionsOf = (assetId: string, filters: Filters) => [
    ...assetEventsOf(tenantId),
    meaning({ kind: 'parent' }, condition('e.asset_id = ?', assetId)),
    ...assetEventConditions(filters, EVERY_ATTRIBUTE),
  ];

  it.each([[TYPE], [SUBJECT]])('of 6,500 events, by %j, asks the index of terms after the first rows', (filters) =>
    reading(async (tx) => {
      const conditions = conditionsOf(LARGE, filters);
      const watched = watchedRows(tx);
      const page = await listAssetEvents(watched.tx, conditions, PAGE + 1, 'newest');
      expect(page.rows.map(({ eventId }) => eventId)).toEqual(['0190a8c0-0000-7000-8000-000000000001']);
      expect((await countAssetEvents(watched.tx, conditions, CAP)).total).toBe(1);
      expect(watched.functions()).toBe(2);
    }),
  );

  it.each(['newest', 'oldest'] as const)(
    'of 6,500 events, without a filter, reads only the page of the %s ones, with statistics and without',
    async (order) => {
      const conditions = conditionsOf(LARGE, []);
      const read = (tx: Tx) => listAssetEvents(tx, conditions, PAGE + 1, order);
      const withStatistics = await reading(read);
      // As after a large import: the planner sees a large table, and takes an asset's events to be few.
      await opened.asOwner(`DELETE FROM pg_statistic WHERE starelid = 'archivist.asset_event'::regclass`);
      await opened.asOwner(`UPDATE pg_class SET reltuples = 360000 WHERE oid = 'archivist.asset_event'::regclass`);
      await reading(async (tx) => {
        const watched = watchedRows(tx);
        expect((await read(watched.tx)).rows).toEqual(withStatistics.rows);
        expect(watched.read('asset_event')).toBe(PAGE + 1);
      });
      await opened.asOwner('ANALYZE archivist.asset_event');
    },
  );

  it('counts on no index of the tenancy beside its own', () => {
    const meanings = withinParent(conditionsOf(LARGE, [...TYPE, ...SUBJECT, ...ANCHORED])).map(({ means }) => means);
    expect(meanings.slice(2)).toMatchObject([{ hot: false }, { hot: false }, undefined]);
    const ofAll = assetEventConditions([...TYPE, ...ANCHORED], EVERY_ATTRIBUTE);
    expect(withinParent(ofAll)).toBe(ofAll);
  });

  it.each([
    [TYPE, 1],
    [SUBJECT, 1],
    [ANCHORED, 1],
    [ABSENT, 0],
  ])('of 20 events, by %j, reads these alone', (filters, meet) =>
    reading(async (tx) => {
      const conditions = conditionsOf(SMALL, filters);
      const watched = watchedRows(tx);
      const page = await listAssetEvents(watched.tx, conditions, PAGE + 1, 'newest');
      expect([page.rows.length, page.cut]).toEqual([meet, false]);
      expect((await countAssetEvents(watched.tx, conditions, CAP)).total).toBe(meet);
      expect([watched.read('asset_event') <= 80, watched.functions()]).toEqual([true, 0]);
    }),
  );
});
