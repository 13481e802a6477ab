import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
import {
  FOUND_AT_ONCE,
  readQuery,
  type Source,
  sourcesOf,
  sourcesOfSubject,
  TIMELINE_FIRST,
} from '../../../src/console/search-query.js';
import type { Filters } from '../../../src/platform/listing/list-query.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { watchedRows } from '../../support/watched-rows.js';
import { EVENTS_OF_AN_ASSET, type GrownTenancy, growTenancy, subjectOf } from './grown-tenancy.js';

const start = Date.parse('2026-01-01T00:00:00Z');
const SMALL: GrownTenancy = { tenantId: '0190a8c0-0000-7000-8000-00000000001a', events: 6_000, start };
const LARGE: GrownTenancy = { tenantId: '0190a8c0-0000-7000-8000-00000000001b', events: 24_000, start };
/** What the service counts at most. */
const CAP = 1001;
/** The ends of a scan meet blocks of the index that are filled differently. */
const SLACK = 200;

type Parameters = Readonly<Record<string, string>>;

/** Each kind of search, and each filter, for a tenancy. */
const SEARCHES: readonly (readonly [string, (tenancy: GrownTenancy) => Parameters])[] = [
  ['nothing yet', () => ({})],
  ['a conversation’s id', () => ({ q: '0192e8f5-0000-7000-8000-0000000000d1' })],
  ['a name', (tenancy) => ({ q: subjectOf(tenancy, 7) })],
  ['a name that nothing has', () => ({ q: 'no such name' })],
  ['labels', (tenancy) => ({ q: `subject=${subjectOf(tenancy, 7)} serial=x` })],
  ['the hash of a file', () => ({ q: 'ab'.repeat(32) })],
  ['a file', () => ({ hash: 'cd'.repeat(32) })],
  ['an operation', () => ({ operation: 'vcon_created' })],
  ['a chain', () => ({ chain: 'none' })],
  ['a link', () => ({ link: 'none' })],
  ['a partner', () => ({ partner: 'none' })],
  ['the status STORED', () => ({ status: 'STORED' })],
  ['the status UNEQUIVOCAL', () => ({ status: 'UNEQUIVOCAL' })],
  ['a day', () => ({ since: '2026-01-01', until: '2026-01-01', q: 'no such name' })],
  [
    'a name with a status and a chain',
    (tenancy) => ({ q: subjectOf(tenancy, 7), status: 'UNEQUIVOCAL', chain: 'none' }),
  ],
];

/** The lists that the page reads, without those of one asset and without single events, which keys find. */
const listsOf = (sources: readonly Source[]): URL[] =>
  sources
    .map(({ path }) => new URL(path, 'http://console'))
    .filter(({ pathname }) => ['/archivist/v2/assets/-/events', '/archivist/v1/events'].includes(pathname));

/** Reads one list as the service does, and counts the rows. */
async function rowsRead(tx: Tx, { tenantId }: GrownTenancy, list: URL, limit: number): Promise<number> {
  const watched = watchedRows(tx);
  const filters: Filters = [...list.searchParams].filter(([name]) => name !== 'page_size');
  if (list.pathname === '/archivist/v1/events') {
    const conditions = [
      ...visibleAssetFreeEvents(tenantId, 'all'),
      ...assetFreeConditions(filters),
      ...(await progressConditions(watched.tx, tenantId, ASSET_FREE_ENTRY, filters)),
    ];
    await listAssetFreeEvents(watched.tx, conditions, limit);
    await countAssetFreeEvents(watched.tx, conditions, CAP);
  } else {
    const conditions = [
      ...assetEventsOf(tenantId),
      ...assetEventConditions(filters, EVERY_ATTRIBUTE),
      ...(await acceptedRange(watched.tx, tenantId, filters)),
      ...(await progressConditions(watched.tx, tenantId, EVENT_ENTRY, filters)),
    ];
    await listAssetEvents(watched.tx, conditions, limit, 'newest');
    await countAssetEvents(watched.tx, conditions, CAP);
  }
  // Those are counted up to 2,001, which neither tenancy has, to choose the query.
  return watched.read() - watched.read('simple_hash_event');
}

describe.each(engines())(
  'what the console asks for reads no more in a tenancy of four times the size, on %s',
  (engine) => {
    // One database each: what is read does not depend on what else a table holds.
    const opened = new Map<GrownTenancy, TestDatabase>();
    beforeAll(async () => {
      for (const tenancy of [SMALL, LARGE]) {
        const database = await engine.open();
        opened.set(tenancy, database);
        await growTenancy(database, tenancy);
      }
    });
    afterAll(async () => {
      for (const database of opened.values()) await database.close();
    });

    const readIn = (tenancy: GrownTenancy, sources: readonly Source[], limit: number) =>
      opened.get(tenancy)!.database.inTransaction({ read: [tenancy.tenantId], write: [] }, async (tx) => {
        let rows = 0;
        for (const list of listsOf(sources)) rows += await rowsRead(tx, tenancy, list, limit);
        return rows;
      });

    it.each(SEARCHES)('a search for %s', async (_, of) => {
      const read = (tenancy: GrownTenancy) =>
        readIn(tenancy, sourcesOf(readQuery(new URLSearchParams(of(tenancy))), FOUND_AT_ONCE), FOUND_AT_ONCE);
      expect(await read(LARGE)).toBeLessThanOrEqual((await read(SMALL)) + SLACK);
    });

    it('a conversation: little more than its own events', async () => {
      const read = (tenancy: GrownTenancy) =>
        readIn(tenancy, sourcesOfSubject(subjectOf(tenancy, 7), true), TIMELINE_FIRST);
      const [small, large] = [await read(SMALL), await read(LARGE)];
      expect(large).toBeLessThanOrEqual(small + SLACK);
      expect(large).toBeLessThan(EVENTS_OF_AN_ASSET * 20);
    });
  },
);
