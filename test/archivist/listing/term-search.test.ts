import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AssetEvent } from '../../../src/archivist/events/asset-event.js';
import {
  countAssetEvents,
  insertAssetEvents,
  listAssetEvents,
} from '../../../src/archivist/events/asset-event-store.js';
import { countByTerms, narrowByTerms } from '../../../src/archivist/listing/term-search-store.js';
import { condition, meaning } from '../../../src/platform/listing/condition.js';
import type { Scope, Tx } from '../../../src/platform/postgres/database.js';
import { executeAll } from '../../../src/platform/postgres/execute-all.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { textWithHash } from '../../support/text-with-hash.js';
import { watchedRows } from '../../support/watched-rows.js';

const MINE = '0190a8c0-0000-7000-8000-00000000000a';
const FOREIGN = '0190a8c0-0000-7000-8000-00000000000b';
const BUSY = '0190a8c0-0000-7000-8000-00000000000c';
const MANY = 2100;
const PRINCIPAL = { issuer: 'https://idp', subject: 'bob', display_name: 'Bob', email: 'bob@example.com' };
const EVENTS = {
  table: 'archivist.asset_event',
  alias: 'e',
  idColumn: 'e.event_id',
  idMember: 'event_id',
  find: 'archivist.find_asset_events',
  count: 'archivist.count_asset_events',
} as const;

function eventId(number: number, tenantId: string): string {
  return `0190a8c0-0000-7000-8${tenantId === MINE ? '0' : '1'}00-${number.toString(16).padStart(12, '0')}`;
}

function event(tenantId: string, number: number, eventAttributes: Record<string, string | string[]>): AssetEvent {
  const timestamp = '2026-01-01T00:00:00Z';
  return {
    tenantId,
    eventId: eventId(number, tenantId),
    assetId: tenantId,
    originTenantId: tenantId,
    operation: 'Record',
    behaviour: 'RecordEvidence',
    eventAttributes,
    assetAttributes: {},
    principalDeclared: PRINCIPAL,
    principalAccepted: PRINCIPAL,
    timestampDeclared: timestamp,
    timestampAccepted: timestamp,
    acceptedAt: new Date(timestamp),
    fromAddress: '0x00',
  };
}

const term = (text: string, place = 'event_attributes', name = 'colour') =>
  meaning(
    { kind: 'term', place, name, text, hot: false, whole: true },
    condition(
      place === 'event_attributes'
        ? `e.event_attributes -> '${name}' = to_jsonb(?::text)`
        : `e.${place} ->> '${name}' = ?`,
      text,
    ),
  );
const of = (tenantId: string) => meaning({ kind: 'tenancy', tenantId }, condition('e.tenant_id = ?', tenantId));

describe.each(engines())('a search by term on %s', (engine) => {
  let opened: TestDatabase;

  beforeAll(async () => {
    opened = await engine.open();
    for (const tenantId of [MINE, FOREIGN])
      await opened.database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) =>
        executeAll(
          tx,
          insertAssetEvents(
            Array.from({ length: MANY }, (_, number) =>
              event(tenantId, number, {
                colour: number % 100 === 7 ? 'rare' : 'usual',
                ...(number === 3 ? { shape: ['round'] } : {}),
                ...(number === 5 ? { shape: '["round"]' } : {}),
                owner: tenantId,
              }),
            ),
          ),
        ),
      );
  });
  afterAll(() => opened.close());

  const as = <T>(scope: Scope, work: (tx: Tx) => Promise<T>) => opened.database.inTransaction(scope, work);
  const mine = { read: [MINE], write: [] };
  const list = (
    tx: Tx,
    conditions: Parameters<typeof listAssetEvents>[1],
    limit = 3,
    order: 'newest' | 'oldest' = 'newest',
  ) => listAssetEvents(tx, conditions, limit, order).then(({ rows }) => rows.map((each) => each.eventId));

  it('of a term that most rows have reads no more rows than a page and a capped total need', async () => {
    await as({ read: [BUSY], write: [BUSY] }, (tx) =>
      executeAll(tx, insertAssetEvents([event(BUSY, 0, { colour: 'usual' })])),
    );
    await opened.asOwner(
      `INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
         event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared,
         timestamp_accepted, accepted_at, from_address)
       SELECT e.tenant_id, (left(e.event_id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, e.asset_id,
         e.origin_tenant_id, e.operation, e.behaviour, e.event_attributes, e.asset_attributes, e.principal_declared,
         e.principal_accepted, e.timestamp_declared, e.timestamp_accepted, e.accepted_at, e.from_address
         FROM generate_series(1, 9999) AS n, archivist.asset_event e WHERE e.tenant_id = $1`,
      [BUSY],
    );
    const usual = [of(BUSY), term('usual')];
    await as({ read: [BUSY], write: [] }, async (tx) => {
      const watched = watchedRows(tx);
      expect(await list(watched.tx, usual, 51, 'newest')).toHaveLength(51);
      expect(await list(watched.tx, usual, 51, 'oldest')).toHaveLength(51);
      expect(watched.read('asset_event')).toBe(2 * 51);
      expect((await countAssetEvents(watched.tx, usual, 1001)).total).toBe(1001);
      expect(watched.read('asset_event')).toBe(2 * 51 + 1001);
      expect(watched.functions()).toBe(0);
      expect((await countAssetEvents(watched.tx, usual)).total).toBe(10_000);
      expect(watched.functions()).toBe(1);
    });
  });

  it('has the same page and total whether the first rows or the index of terms tell it', async () => {
    const foreign = [of(FOREIGN), term('rare')];
    const scope = { read: [FOREIGN], write: [] };
    const everything = await as(scope, (tx) => list(tx, foreign, 50));
    expect(everything).toHaveLength(21);
    expect(await as(scope, (tx) => list(tx, foreign, 20))).toEqual(everything.slice(0, 20));
    expect(await as(scope, (tx) => list(tx, foreign, 5, 'oldest'))).toEqual(everything.slice(-5).reverse());
    for (const cap of [20, 21, 22, undefined])
      expect((await as(scope, (tx) => countAssetEvents(tx, foreign, cap))).total).toBe(Math.min(cap ?? 21, 21));
  });

  it('finds the newest first, or the oldest, and goes on beyond an id', async () => {
    const rare = [of(MINE), term('rare')];
    const beyond = (number: number, comparison: '<' | '>') => {
      const id = eventId(number, MINE);
      return meaning({ kind: 'beyond', id }, condition(`e.event_id ${comparison} ?`, id));
    };
    const numbers = (...all: number[]) => all.map((number) => eventId(number, MINE));
    await as(mine, async (tx) => {
      expect(await list(tx, rare)).toEqual(numbers(2007, 1907, 1807));
      expect(await list(tx, rare, 3, 'oldest')).toEqual(numbers(7, 107, 207));
      expect(await list(tx, [...rare, beyond(1907, '<')], 2)).toEqual(numbers(1807, 1707));
      expect(await list(tx, [...rare, beyond(1907, '>')], 2, 'oldest')).toEqual(numbers(2007));
      expect(await list(tx, [of(MINE), term('absent')])).toEqual([]);
    });
  });

  it('fills a page where other conditions have their say, too', async () => {
    const late = condition('e.event_id < ?', eventId(300, MINE));
    await as(mine, async (tx) => {
      expect(await list(tx, [of(MINE), term('rare'), late])).toEqual([207, 107, 7].map((each) => eventId(each, MINE)));
    });
  });

  it('finds what is frequent without the index of terms, and counts it with it', async () => {
    const usual = [of(MINE), term('usual')];
    await as(mine, async (tx) => {
      expect(await narrowByTerms(tx, EVENTS, usual, { limit: 3, order: 'newest' })).toBe(usual);
      expect(await list(tx, usual)).toEqual([2099, 2098, 2097].map((each) => eventId(each, MINE)));
      expect(await countByTerms(tx, EVENTS, usual, undefined)).toBe(MANY - 21);
      expect(await countByTerms(tx, EVENTS, usual, 1001)).toBe(1001);
      expect(await countByTerms(tx, EVENTS, [of(MINE), term('bob', 'principal_declared', 'subject')], undefined)).toBe(
        MANY,
      );
    });
  });

  it('takes no list for the text that it reads like', async () => {
    const text = [of(MINE), term('["round"]', 'event_attributes', 'shape')];
    await as(mine, async (tx) => {
      expect(await list(tx, text)).toEqual([eventId(5, MINE)]);
      expect(await countByTerms(tx, EVENTS, text, undefined)).toBeUndefined();
    });
  });

  it('finds an event in the transaction that stores it', async () => {
    await as({ read: [MINE], write: [MINE] }, async (tx) => {
      await executeAll(tx, insertAssetEvents([event(MINE, 9000, { colour: 'new' })]));
      expect(await list(tx, [of(MINE), term('new')])).toEqual([eventId(9000, MINE)]);
    });
  });

  const FIND = `SELECT archivist.find_asset_events($1, '{event_attributes}', '{colour}', '{rare}', NULL, true, 10) AS ids`;
  const COUNT = `SELECT archivist.count_asset_events($1, '{event_attributes}', '{colour}', '{rare}', NULL)`;
  const FIND_ASSETS = `SELECT archivist.find_assets($1, '{attributes}', '{colour}', '{rare}', NULL, true, 10)`;

  it.each([FIND, COUNT, FIND_ASSETS])('refuses a tenancy that the transaction may not read: %s', async (text) => {
    for (const scope of [mine, { read: [], write: [] }, { read: [], write: [FOREIGN] }, 'system'] as const)
      await expect(as(scope, (tx) => tx.query(text, [FOREIGN]))).rejects.toMatchObject({ code: '42501' });
    await expect(as(mine, (tx) => tx.query(text, [null]))).rejects.toMatchObject({ code: '42501' });
  });

  it('finds each part of an event: the index has the term of every one, and no other', async () => {
    const principal = (who: string) =>
      JSON.stringify({ issuer: `i${who}`, subject: `s${who}`, display_name: `d${who}`, email: '' });
    const asset = (changes: object) =>
      `archivist.asset_event_terms('${MINE}', '{"a": "1", "b": ["x", {"y": "z"}]}', '${JSON.stringify(changes)}',
         '${principal('d')}', '${principal('a')}', 'Record', 'RecordEvidence', '0x1')`;
    const principals = ['d', 'a'].flatMap((who) => {
      const place = who === 'd' ? 'principal_declared' : 'principal_accepted';
      const texts = { issuer: `i${who}`, subject: `s${who}`, display_name: `d${who}`, email: '' };
      return Object.entries(texts).map((each) => [place, ...each]);
    });
    const members = [
      ['event_attributes', 'a', '1'],
      ['event_attributes', 'b', '["x", {"y": "z"}]'],
      ['event', 'operation', 'Record'],
      ['event', 'behaviour', 'RecordEvidence'],
      ['event', 'from', '0x1'],
      ...principals,
    ];
    const free = `archivist.asset_free_event_terms('${MINE}', '{"a": "1"}', '["t", "u"]', 'kind', 'me')`;
    const ofFree = [
      ['event_attributes', 'a', '1'],
      ...['t', 'u'].map((trail) => ['event', 'trail', trail]),
      ['event', 'event_type', 'kind'],
      ['event', 'created_by', 'me'],
    ];
    for (const [terms, places] of [
      [asset({}), members],
      [asset({ a: '2' }), [...members, ['asset_attributes', 'a', '2']]],
      [free, ofFree],
    ] as const) {
      const [row] = await as(mine, (tx) =>
        tx.query(
          `SELECT ARRAY(SELECT unnest(${terms}) ORDER BY 1) AS stored,
                  ARRAY(SELECT archivist.search_term($1, p, n, v) FROM unnest($2::text[], $3::text[], $4::text[]) AS t(p, n, v)
                         ORDER BY 1) AS searched`,
          [MINE, ...[0, 1, 2].map((part) => places.map((place) => place[part]))],
        ),
      );
      expect(row!['stored']).toEqual(row!['searched']);
    }
  });

  it('finds nothing of a tenancy by the terms of another', async () => {
    await as(mine, async (tx) => {
      expect(await countByTerms(tx, EVENTS, [of(MINE), term(FOREIGN, 'event_attributes', 'owner')], undefined)).toBe(0);
      expect(await list(tx, [of(MINE), term(FOREIGN, 'event_attributes', 'owner')])).toEqual([]);
      expect(await countByTerms(tx, EVENTS, [of(MINE), term(MINE, 'event_attributes', 'owner')], undefined)).toBe(MANY);
    });
  });

  it('finds and counts all rows of a tenancy and no others, also where texts of two share a term', async () => {
    const [terms] = await opened.asOwner(
      `SELECT archivist.search_term($1, 'event_attributes', 'colour', 'rare')::text AS hash,
              hashtextextended('colour' COLLATE "C", hashtextextended('event_attributes' COLLATE "C",
                hashtextextended($2 COLLATE "C", 0)))::text AS seed`,
      [MINE, FOREIGN],
    );
    const shared = textWithHash(BigInt(String(terms!['hash'])), BigInt(String(terms!['seed'])));
    const found = (tx: Tx, tenantId: string, text: string, most: number) =>
      tx.query(
        `SELECT archivist.find_asset_events($1, '{event_attributes}', '{colour}', ARRAY[$2], NULL, true, 3) AS ids,
                archivist.count_asset_events($1, '{event_attributes}', '{colour}', ARRAY[$2], $3) AS total`,
        [tenantId, text, most],
      );
    await as({ read: [FOREIGN], write: [FOREIGN] }, async (tx) => {
      await executeAll(tx, insertAssetEvents([event(FOREIGN, 9500, { colour: shared })]));
      expect(await found(tx, FOREIGN, shared, 1)).toEqual([{ ids: [eventId(9500, FOREIGN)], total: 1n }]);
    });
    const newest = [2007, 1907, 1807].map((number) => eventId(number, MINE));
    expect(await as(mine, (tx) => found(tx, MINE, 'rare', 21))).toEqual([{ ids: newest, total: 21n }]);
  });

  it('takes its arguments for values, whatever stands in them', async () => {
    const hostile = `rare'); DROP TABLE archivist.asset_event; --`;
    await as(mine, async (tx) => {
      expect(await list(tx, [of(MINE), term(hostile)])).toEqual([]);
      expect(await list(tx, [of(MINE), term('rare')], 1)).toHaveLength(1);
    });
  });

  it('needs a term', async () => {
    const all = `SELECT archivist.find_asset_events($1, '{}', '{}', '{}', NULL, true, 10)`;
    await expect(as(mine, (tx) => tx.query(all, [MINE]))).rejects.toMatchObject({ code: '22023' });
  });

  it('runs none of the caller’s own functions or tables, whatever his search path names', async () => {
    await as({ read: [MINE], write: [MINE] }, async (tx) => {
      await tx.execute(`CREATE FUNCTION pg_temp.hashtextextended(text, bigint) RETURNS bigint LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'taken over as %', current_user; END $$`);
      await tx.execute('CREATE TEMPORARY TABLE asset_event (tenant_id uuid, event_id uuid)');
      await tx.execute('SET LOCAL search_path = pg_temp, archivist, pg_catalog');
      const [row] = await tx.query<{ ids: string[] }>(FIND, [MINE]);
      expect(row?.ids).toHaveLength(10);
    });
  });

  it('is the service’s alone to call, and the role behind it can neither log in nor write', async () => {
    const [role] = await opened.asOwner(
      `SELECT rolcanlogin, rolsuper, rolbypassrls,
              has_table_privilege(rolname, 'archivist.asset_event', 'INSERT,UPDATE,DELETE') AS writes,
              has_table_privilege(rolname, 'archivist.application', 'SELECT') AS reads_others,
              has_schema_privilege(rolname, 'archivist', 'CREATE') AS creates
         FROM pg_roles WHERE rolname = 'vcon_archivist_search'`,
    );
    expect(role).toEqual({
      rolcanlogin: false,
      rolsuper: false,
      rolbypassrls: false,
      writes: false,
      reads_others: false,
      creates: false,
    });
    const callable = await opened.asOwner(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'archivist'::regnamespace AND prosecdef
          AND (has_function_privilege('public', oid, 'EXECUTE') OR proconfig IS NULL
               OR NOT 'search_path=pg_catalog, pg_temp' = ANY (proconfig))`,
    );
    expect(callable).toEqual([]);
  });
});
