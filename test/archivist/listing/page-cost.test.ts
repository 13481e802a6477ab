import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetConditions, NEW_ASSET_ENTRY } from '../../../src/archivist/assets/asset-filter-store.js';
import { countAssets, listAssets } from '../../../src/archivist/assets/asset-store.js';
import {
  assetEventConditions,
  EVENT_ENTRY,
  EVERY_ATTRIBUTE,
} from '../../../src/archivist/events/asset-event-filter-store.js';
import { countAssetEvents, listAssetEvents } from '../../../src/archivist/events/asset-event-store.js';
import { assetEventsOf } from '../../../src/archivist/events/asset-event-visibility-store.js';
import {
  ASSET_FREE_ENTRY,
  assetFreeConditions,
  visibleAssetFreeEvents,
} from '../../../src/archivist/events/asset-free-event-filter-store.js';
import { countAssetFreeEvents, listAssetFreeEvents } from '../../../src/archivist/events/asset-free-event-store.js';
import { acceptedRange } from '../../../src/archivist/listing/accepted-range-store.js';
import { progressConditions } from '../../../src/archivist/listing/progress-conditions.js';
import { securityEventConditions } from '../../../src/archivist/security/security-event-filter-store.js';
import { readQuery, sourcesOf } from '../../../src/console/search-query.js';
import { mmrIndex } from '../../../src/core/mmr/leaf-count.js';
import { condition, meaning } from '../../../src/platform/listing/condition.js';
import type { Filters } from '../../../src/platform/listing/list-query.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { watchedRows } from '../../support/watched-rows.js';
import {
  acceptedAt,
  EVENTS_OF_AN_ASSET,
  growTenancy,
  subjectOf,
  UNPUBLISHED,
  UNWITNESSED,
  WAITING,
} from './grown-tenancy.js';

const EVENTS = 36_000;
const ASSETS = EVENTS / EVENTS_OF_AN_ASSET;
const TENANCY = {
  tenantId: '0190a8c0-0000-7000-8000-00000000000a',
  events: EVENTS,
  start: Date.parse('2026-01-01T00:00:00Z'),
};
const { tenantId } = TENANCY;
const PAGE = 50;
const CAP = 1001;
/** Twice the first rows in the list's order, a page, a capped total, and what a few index entries lead to. */
const ROWS_READ = 25_000;

/** A list over all assets, among the requests of the console. */
const EVENT_LIST = /^\/archivist\/v2\/assets\/-\/events\?/;

type Filter = readonly [string, string];
const number = (eventId: string) => Number.parseInt(eventId.slice(-8), 16);
const simpleHash = (each: number) => (each % ASSETS) % 100 === 3;
const at = (each: number) => acceptedAt(TENANCY, each);

const status = (name: string): Filter => ['confirmation_status', name];
const trust = (name: string): Filter => ['minimum_trust', name];
const EXAMINED: Filter = ['event_attributes.arc_display_type', 'examined'];
const USUAL: Filter = ['event_attributes.arc_display_type', 'operation'];
const COLOUR: Filter = ['event_attributes.colour', 'colour 7'];
const ABSENT: Filter = ['event_attributes.colour', 'none'];
const any = ([name, value]: Filter, group = 'any'): Filter => [group, `${name}=${value}`];
const ASSET_7: Filter = ['asset.attributes.subject', subjectOf(TENANCY, 7)];
const LATE: Filter = ['timestamp_accepted_since', at(EVENTS + 100)];
const EARLY: Filter = ['timestamp_accepted_before', at(-100)];
const published = EVENTS - UNPUBLISHED;
const witnessed = EVENTS - UNWITNESSED;

/** Filters, and the numbers of the events that meet them. */
const EVENT_LISTS: readonly (readonly [readonly Filter[], (each: number) => boolean])[] = [
  [[status('STORED')], (n) => n >= EVENTS - WAITING],
  [[status('COMMITTED')], (n) => n >= published && n < EVENTS - WAITING],
  [[status('CONFIRMED')], (n) => n < published && (n >= witnessed || simpleHash(n))],
  [[status('UNEQUIVOCAL')], (n) => n < witnessed && !simpleHash(n)],
  [[status('PENDING')], () => false],
  [[trust('COMMITTED')], (n) => n < EVENTS - WAITING],
  [[trust('CONFIRMED')], (n) => n < published],
  [[trust('UNEQUIVOCAL')], (n) => n < witnessed && !simpleHash(n)],
  [[['mmr_index', `${mmrIndex(1234n)}`]], (n) => n === 1234],
  [[['transaction_id', `0x${'0'.repeat(64)}`]], () => false],
  [[['operation', 'Record']], (n) => n >= ASSETS],
  [[['operation', 'none']], () => false],
  [[['proof_mechanism', 'SIMPLE_HASH']], simpleHash],
  [[['proof_mechanism', 'MERKLE_LOG']], (n) => !simpleHash(n)],
  [[['principal_declared.display_name', 'call 77']], (n) => n === 77],
  [[EXAMINED], (n) => n % 100 === 7 && n % 1000 !== 7],
  [[USUAL], (n) => n % 100 !== 7],
  [[['event_attributes.subject', subjectOf(TENANCY, 7)]], (n) => n % ASSETS === 7],
  [[COLOUR], (n) => n % 10 === 7],
  [[ABSENT], () => false],
  [[ASSET_7], (n) => n % ASSETS === 7],
  [[any(EXAMINED), any(ASSET_7), any(ABSENT)], (n) => (n % 100 === 7 && n % 1000 !== 7) || n % ASSETS === 7],
  [[any(COLOUR), any(ASSET_7)], (n) => n % 10 === 7],
  [[any(EXAMINED), any(COLOUR, 'any.2'), any(ABSENT, 'any.2')], (n) => n % 100 === 7 && n % 1000 !== 7],
  [[any(ABSENT), any(['asset.attributes.colour', 'none'])], () => false],
  [[any(ABSENT), any(['event_attributes.colour', '*'])], () => true],
  [[LATE], () => false],
  [[EARLY], () => false],
  [[['timestamp_accepted_since', at(EVENTS - 30)]], (n) => n >= EVENTS - 30],
  [[['timestamp_accepted_since', at(EVENTS / 2)]], (n) => n >= EVENTS / 2],
  [[['timestamp_accepted_before', at(30)]], (n) => n < 30],
  [[['timestamp_accepted_before', at(EVENTS / 2)]], (n) => n < EVENTS / 2],
  [
    [
      ['timestamp_accepted_since', at(EVENTS / 2)],
      ['timestamp_accepted_before', at(EVENTS / 2 + 60)],
    ],
    (n) => n >= EVENTS / 2 && n < EVENTS / 2 + 60,
  ],
  [[['timestamp_committed_since', at(EVENTS + 100)]], () => false],
  [[['timestamp_committed_since', at(EVENTS - 60)]], (n) => n >= EVENTS - 60 && n < EVENTS - WAITING],
  [[['timestamp_committed_since', at(60)]], (n) => n >= 60 && n < EVENTS - WAITING],
  [[['timestamp_committed_before', at(-100)]], () => false],
  [[['timestamp_committed_before', at(60)]], (n) => n < 60],
  [[status('STORED'), ['operation', 'Record']], (n) => n >= EVENTS - WAITING],
  [[status('CONFIRMED'), USUAL], (n) => n < published && (n >= witnessed || simpleHash(n)) && n % 100 !== 7],
  [[status('CONFIRMED'), COLOUR], (n) => n < published && (n >= witnessed || simpleHash(n)) && n % 10 === 7],
  [[status('CONFIRMED'), ABSENT], () => false],
  [[status('UNEQUIVOCAL'), USUAL], (n) => n < witnessed && !simpleHash(n) && n % 100 !== 7],
  [[status('UNEQUIVOCAL'), LATE], () => false],
  [[status('CONFIRMED'), status('UNEQUIVOCAL')], () => false],
  [[trust('CONFIRMED'), COLOUR], (n) => n < published && n % 10 === 7],
  [[COLOUR, LATE], () => false],
  [[USUAL, EARLY], () => false],
  [[COLOUR, ['timestamp_accepted_before', at(EVENTS / 2)]], (n) => n < EVENTS / 2 && n % 10 === 7],
];

/** Filters that no index answers, and the numbers of the events that meet them. */
const READ_IN_ORDER: readonly (readonly [readonly Filter[], (each: number) => boolean])[] = [
  [[['timestamp_declared_since', at(EVENTS - 60)]], (n) => n >= EVENTS - 60],
  [[['timestamp_declared_since', at(EVENTS + 100)]], () => false],
  [[['timestamp_declared_before', at(60)]], (n) => n < 60],
  [[['timestamp_declared_before', at(EVENTS / 2)]], (n) => n < EVENTS / 2],
  [[['timestamp_declared_before', at(EVENTS / 2)], USUAL], (n) => n < EVENTS / 2 && n % 100 !== 7],
  [[['event_attributes.colour', '*']], () => true],
  [[['event_attributes.other', '*']], () => false],
  [[['asset_attributes.grade', '*']], (n) => n % 100 === 7],
  [[['event_attributes.first', '*']], (n) => n === 0],
  [[['event_attributes.colour!', '*']], () => false],
  [[['event_attributes.arc_display_type!', 'operation']], (n) => n % 100 === 7],
  [[['event_attributes.colour.shade', 'dark']], () => false],
  [[any(ABSENT), any(['event_attributes.first', '*'])], (n) => n === 0],
  [[['asset.attributes.other', '*']], () => false],
  [[['asset.attributes.arc_display_type!', 'vcon']], (n) => (n % ASSETS) % 100 === 7],
  [
    [
      ['principal_declared.display_name', 'nobody'],
      ['asset_attributes.grade', '*'],
    ],
    () => false,
  ],
];

/** Filters, and the numbers of the tracked assets that meet them. */
const ASSET_LISTS: readonly (readonly [readonly Filter[], (each: number) => boolean])[] = [
  [[status('STORED')], () => false],
  [[status('COMMITTED')], () => false],
  [[status('CONFIRMED')], simpleHash],
  [[status('UNEQUIVOCAL')], (n) => !simpleHash(n)],
  [[status('CONFIRMED'), ['attributes.colour', 'colour 3']], (n) => simpleHash(n)],
  [[['attributes.arc_display_type', 'rare']], (n) => n % 100 === 7],
];

describe.each(engines())('a filtered list of a tenancy of 36,000 events, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await growTenancy(opened, TENANCY);
  });
  afterAll(() => opened?.close());

  const reading = <T>(work: (tx: Tx) => Promise<T>) =>
    opened.database.inTransaction({ read: [tenantId], write: [] }, work);

  const eventConditions = async (tx: Tx, filters: Filters) => [
    ...assetEventsOf(tenantId),
    ...assetEventConditions(filters, EVERY_ATTRIBUTE),
    ...(await acceptedRange(tx, tenantId, filters)),
    ...(await progressConditions(tx, tenantId, EVENT_ENTRY, filters)),
  ];

  it.each(EVENT_LISTS)('%j has its first page and its total without a read of the tenancy', async (filters, meets) => {
    const expected = Array.from({ length: EVENTS }, (_, each) => EVENTS - 1 - each).filter(meets);
    await reading(async (tx) => {
      const watched = watchedRows(tx);
      const conditions = await eventConditions(watched.tx, filters);
      const { rows: page } = await listAssetEvents(watched.tx, conditions, PAGE + 1, 'newest');
      expect(page.map(({ eventId }) => number(eventId))).toEqual(expected.slice(0, PAGE + 1));
      expect((await countAssetEvents(watched.tx, conditions, CAP)).total).toBe(Math.min(CAP, expected.length));
      expect(watched.read()).toBeLessThan(ROWS_READ);
      expect((await countAssetEvents(tx, conditions)).total).toBe(expected.length);
    });
  });

  it.each(READ_IN_ORDER)(
    '%j reads no more of the tenancy for a page or a total, and all of it in the end',
    (...row) => {
      const [filters, meets] = row;
      const expected = Array.from({ length: EVENTS }, (_, each) => EVENTS - 1 - each).filter(meets);
      return reading(async (tx) => {
        const conditions = await eventConditions(tx, filters);
        const found: number[] = [];
        for (let after: string | undefined; ; ) {
          const beyond =
            after === undefined ? [] : [meaning({ kind: 'beyond', id: after }, condition('e.event_id < ?', after))];
          const watched = watchedRows(tx);
          const page = await listAssetEvents(watched.tx, [...conditions, ...beyond], 1000, 'newest');
          expect(watched.read()).toBeLessThan(EVENTS);
          found.push(...page.rows.map(({ eventId }) => number(eventId)));
          after = page.rows.length === 1000 ? page.rows.at(-1)!.eventId : page.readTo;
          if (after === undefined) break;
        }
        expect(found).toEqual(expected);
        const watched = watchedRows(tx);
        const { total, cut } = await countAssetEvents(watched.tx, conditions, CAP);
        expect(watched.read()).toBeLessThan(EVENTS);
        expect(total).toBeLessThanOrEqual(Math.min(CAP, expected.length));
        if (!cut) expect(total).toBe(Math.min(CAP, expected.length));
        expect((await countAssetEvents(tx, conditions)).total).toBe(expected.length);
      });
    },
  );

  it.each(ASSET_LISTS)('assets: %j are those whose first event is so far', async (filters, meets) => {
    const expected = Array.from({ length: ASSETS }, (_, each) => ASSETS - 1 - each)
      .filter((each) => each % 100 !== 9)
      .filter(meets);
    await reading(async (tx) => {
      const conditions = [
        meaning({ kind: 'tenancy', tenantId }, condition('a.tenant_id = ?', tenantId)),
        ...assetConditions(filters, { column: 'a.attributes' }),
        ...(await progressConditions(tx, tenantId, NEW_ASSET_ENTRY, filters)),
      ];
      const { rows: page } = await listAssets(tx, conditions, PAGE + 1, 'newest');
      expect(page.map(({ assetId }) => number(assetId))).toEqual(expected.slice(0, PAGE + 1));
      expect((await countAssets(tx, conditions)).total).toBe(expected.length);
    });
  });

  it.each([
    ['an id, as a conversation or an asset', '0190a8c0-0000-7000-8000-000000000001', 0],
    ['a text, as a name or an id', subjectOf(TENANCY, 7), EVENTS_OF_AN_ASSET],
    ['labels', `subject=${subjectOf(TENANCY, 7)} serial=x`, 0],
    ['a file', 'ab'.repeat(32), 0],
    ['nothing yet', '', PAGE],
  ])('is each of those that the console asks for, for %s, without a read of the tenancy', (_, text, most) =>
    reading(async (tx) => {
      const found = new Set<string>();
      const asked = sourcesOf({ ...readQuery(new URLSearchParams()), text }, PAGE);
      for (const { path } of asked.filter((each) => EVENT_LIST.test(each.path))) {
        const watched = watchedRows(tx);
        const parameters = [...new URL(path, 'http://console').searchParams];
        const filters = parameters.filter(([name]) => name !== 'page_size');
        const conditions = await eventConditions(watched.tx, filters);
        const { rows } = await listAssetEvents(watched.tx, conditions, PAGE, 'newest');
        for (const { eventId } of rows) found.add(eventId);
        await countAssetEvents(watched.tx, conditions, CAP);
        expect([path, watched.read() < ROWS_READ]).toEqual([path, true]);
      }
      expect(found.size).toBe(most);
    }),
  );

  describe('of asset-free events', () => {
    const free = '0190a8c0-0000-7000-8000-00000000000c';
    const mine = { issuer: 'https://idp.example', subject: 'agent 7' };
    // Every third is of the security audit, which the list leaves out.
    const LISTS: readonly (readonly [readonly Filter[], 'all' | typeof mine, (each: number) => boolean])[] = [
      [[], 'all', () => true],
      [[], mine, (n) => n % 5000 === 7],
      [[['event_attributes.serial', 'serial 77']], 'all', (n) => n === 77],
      [[['attributes.serial', 'serial 77']], mine, () => false],
      [[['attributes.colour', 'colour 7']], 'all', (n) => n % 10 === 7],
      [[['attributes.colour', 'none']], 'all', () => false],
      [[['attributes.colour', '*']], 'all', () => true],
      [[['trails', 'call 1234']], 'all', (n) => n === 1234],
      [[['trails', 'calls']], 'all', () => true],
      [[any(['trails', 'call 1234']), any(['event_type', 'rare'])], 'all', (n) => n === 1234 || n === 11],
      [[any(['trails', 'call 1234']), any(['event_type', 'rare'])], mine, () => false],
      [[['event_type', 'rare']], 'all', (n) => n === 11],
      [[['created_by', 'agent 7']], 'all', (n) => n % 5000 === 7],
      [[['timestamp_accepted_since', at(EVENTS + 100)]], 'all', () => false],
      [[['timestamp_accepted_before', at(30)]], 'all', (n) => n < 30],
      [[['confirmation_status', 'CONFIRMED']], 'all', () => false],
      [[['confirmation_status', 'UNEQUIVOCAL']], 'all', () => false],
    ];

    beforeAll(async () => {
      const id = `(overlay(lpad(to_hex(${TENANCY.start} + n * 1000), 12, '0') placing '-' from 9 for 0) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
      await opened.asOwner(
        `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer, created_by, created_at_ms)
         SELECT $1::uuid, ${id}, jsonb_build_object('serial', 'serial ' || n, 'colour', 'colour ' || n % 10),
           jsonb_build_array('calls', 'call ' || n),
           CASE WHEN n % 3 = 0 THEN 'arc_security_event' WHEN n = 11 THEN 'rare' ELSE 'usual' END,
           'https://idp.example', 'agent ' || n % 5000, ${TENANCY.start} + n * 1000
           FROM generate_series(0, ${EVENTS - 1}) AS n`,
        [free],
      );
      await opened.asOwner('ANALYZE archivist.asset_free_event');
    });

    it.each(LISTS)('%j for %j has its first page and its total without a read of the tenancy', async (...row) => {
      const [filters, visibility, meets] = row;
      const expected = Array.from({ length: EVENTS }, (_, each) => EVENTS - 1 - each).filter(
        (each) => each % 3 !== 0 && meets(each),
      );
      await opened.database.inTransaction({ read: [free], write: [] }, async (tx) => {
        const watched = watchedRows(tx);
        const conditions = [
          ...visibleAssetFreeEvents(free, visibility),
          ...assetFreeConditions(filters),
          ...(await progressConditions(watched.tx, free, ASSET_FREE_ENTRY, filters)),
        ];
        const { rows: page } = await listAssetFreeEvents(watched.tx, conditions, PAGE + 1);
        expect(page.map(({ eventId }) => number(eventId))).toEqual(expected.slice(0, PAGE + 1));
        expect((await countAssetFreeEvents(watched.tx, conditions, CAP)).total).toBe(Math.min(CAP, expected.length));
        expect(watched.read()).toBeLessThan(ROWS_READ);
        expect((await countAssetFreeEvents(tx, conditions)).total).toBe(expected.length);
      });
    });
  });

  it('reads no more of a security audit for a page or a total, and all of it in the end', async () => {
    const audited = '0190a8c0-0000-7000-8000-00000000000d';
    const conditions = securityEventConditions(audited, [['action', 'rare']]);
    await opened.asOwner(
      `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer, created_by, created_at_ms)
       SELECT $1::uuid, ('0190a8c0-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
         jsonb_build_object('action', CASE WHEN n = 11011 THEN 'rare' ELSE 'usual' END), '[]', 'arc_security_event', '', '', n
         FROM generate_series(0, ${EVENTS - 1}) AS n`,
      [audited],
    );
    await opened.asOwner('ANALYZE archivist.asset_free_event');
    await opened.database.inTransaction({ read: [audited], write: [] }, async (tx) => {
      const watched = watchedRows(tx);
      const first = await listAssetFreeEvents(watched.tx, conditions, PAGE);
      expect([first.rows, first.cut]).toEqual([[], true]);
      expect(watched.read()).toBeLessThan(EVENTS);
      const last = meaning({ kind: 'beyond', id: first.readTo! }, condition('e.event_id < ?', first.readTo));
      const second = await listAssetFreeEvents(tx, [...conditions, last], PAGE);
      expect([second.rows, second.cut]).toEqual([[], true]);
      const beyond = meaning({ kind: 'beyond', id: second.readTo! }, condition('e.event_id < ?', second.readTo));
      const { rows } = await listAssetFreeEvents(tx, [...conditions, beyond], PAGE);
      expect(rows.map(({ eventId }) => number(eventId))).toEqual([11_011]);
      const counted = watchedRows(tx);
      expect(await countAssetFreeEvents(counted.tx, conditions, CAP)).toEqual({ total: 0, cut: true });
      expect(counted.read()).toBeLessThan(EVENTS);
      expect((await countAssetFreeEvents(tx, conditions)).total).toBe(1);
    });
  });

  it('finds an event by its time whose id is of another time, because a clock was set back', async () => {
    const other = { tenantId: '0190a8c0-0000-7000-8000-00000000000b', events: 40, start: TENANCY.start };
    await growTenancy(opened, other);
    await opened.asOwner(`INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation,
        behaviour, event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared,
        timestamp_accepted, accepted_at, from_address)
      SELECT tenant_id, (left(event_id::text, 34) || '99')::uuid, asset_id, origin_tenant_id, operation, behaviour, event_attributes,
        asset_attributes, principal_declared, principal_accepted, timestamp_declared, timestamp_accepted,
        accepted_at + CASE WHEN event_id = (SELECT event_id FROM archivist.asset_event WHERE tenant_id = '${other.tenantId}' ORDER BY event_id LIMIT 1)
          THEN interval '1 hour' ELSE interval '-1 hour' END, from_address
        FROM archivist.asset_event WHERE tenant_id = '${other.tenantId}' AND (right(event_id::text, 2) = '00' OR right(event_id::text, 2) = '27')`);
    await opened.database.inTransaction({ read: [other.tenantId], write: [] }, async (tx) => {
      const found = async (filter: Filter) => {
        const conditions = [
          ...assetEventsOf(other.tenantId),
          ...assetEventConditions([filter], EVERY_ATTRIBUTE),
          ...(await acceptedRange(tx, other.tenantId, [filter])),
        ];
        return (await listAssetEvents(tx, conditions, 100, 'newest')).rows.map(({ eventId }) => eventId.slice(0, 13));
      };
      const [first, last] = ['019b76da-a800', '019b76db-4058'];
      expect(await found(['timestamp_accepted_since', acceptedAt(other, 60)])).toEqual([first]);
      expect(await found(['timestamp_accepted_before', acceptedAt(other, -60)])).toEqual([last]);
    });
  });
});
