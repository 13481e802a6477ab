import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSearchFilter, type SearchFilter } from '../../src/filter/odata.js';
import { matchesSearchFilter, type SearchedEvent } from '../../src/filter/odata-matches.js';
import { type SearchColumns, searchFilterSql } from '../../src/filter/odata-sql.js';
import { CLUSTER } from '../../src/platform/postgres/open-embedded.js';
import { embeddedDataDir } from '../support/engines.js';

let engine: PGlite;
let dataDir: string;
beforeAll(async () => {
  // A cluster that is made anew takes five seconds of the processor.
  dataDir = await embeddedDataDir();
  engine = await PGlite.create(join(dataDir, 'embedded', CLUSTER));
});
afterAll(async () => {
  await engine?.close();
  await rm(dataDir, { recursive: true });
});

const COLUMNS: SearchColumns = {
  trails: 'e.trails',
  event_type: 'e.event_type',
  origin_tenant: "'tenant/' || e.tenant",
  created_by: 'e.created_by',
  created_at: 'e.created_at_ms',
  'ledger_entry/index': 'e.mmr_index',
  'ledger_entry/idtimestamp': 'e.idtimestamp',
  'ledger_entry/content_hash': 'e.content_hash',
};

const TEXTS = ['', 'a', 'A', 'b', 'ab', 'é', "it's", '\uffff', '\u{10400}', 'tenant/a', 'tenant/b', "'; --"];
const NUMBERS = [-1n, 0n, 1n, 2n, 2n ** 63n - 1n, -(2n ** 63n)];
const text = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0')),
);
const number = fc.constantFrom(...NUMBERS);
const operator = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le');

const integers = fc
  .tuple(fc.constantFrom('created_at', 'ledger_entry/index'), operator, number)
  .map((parts) => parts.join(' '));
const texts = fc
  .tuple(
    fc.constantFrom(
      'event_type',
      'origin_tenant',
      'created_by',
      'ledger_entry/idtimestamp',
      'ledger_entry/content_hash',
    ),
    operator,
    text,
  )
  .map(([property, op, value]) => `${property} ${op} ${quoted(value)}`);
const trail = fc.tuple(operator, text).map(([op, value]) => `t ${op} ${quoted(value)}`);

function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function combined(leaf: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.tuple(tie('filter'), fc.constantFrom('and', 'or'), tie('filter')).map((parts) => `(${parts.join(' ')})`),
      fc.tuple(tie('filter'), fc.constantFrom('and', 'or'), tie('filter')).map((parts) => parts.join(' ')),
      tie('filter').map((part) => `not (${part})`),
    ),
  })).filter;
}

const anyFilter: fc.Arbitrary<string> = combined(
  fc.oneof(
    integers,
    texts,
    combined(trail).map((part) => `trails/any(t: ${part})`),
  ),
).filter((filter) => {
  try {
    parseSearchFilter(filter);
    return true;
  } catch {
    return false;
  }
});

const anyEvent: fc.Arbitrary<SearchedEvent> = fc
  .record({
    trails: fc.array(text, { maxLength: 3 }),
    event_type: text,
    origin_tenant: text.map((tenant) => `tenant/${tenant}`),
    created_by: text,
    created_at: number,
    ledger_entry: fc.option(fc.record({ index: number, idtimestamp: text, content_hash: text })),
  })
  .map(({ ledger_entry, ...event }) => (ledger_entry ? { ...event, ledger_entry } : event));

async function passesInSql(filter: SearchFilter, event: SearchedEvent): Promise<unknown> {
  const { where, values } = searchFilterSql(filter, COLUMNS);
  const row = [
    JSON.stringify(event.trails),
    event.event_type,
    event.origin_tenant.slice('tenant/'.length),
    event.created_by,
    event.created_at.toString(),
    event.ledger_entry?.index.toString() ?? null,
    event.ledger_entry?.idtimestamp ?? null,
    event.ledger_entry?.content_hash ?? null,
  ];
  const types = ['jsonb', 'text', 'text', 'text', 'bigint', 'bigint', 'text', 'text'];
  const cells = types.map((type, index) => `$${values.length + index + 1}::${type}`);
  const { rows } = await engine.query<{ passes: unknown }>(
    `SELECT (${where}) AS passes FROM (VALUES (${cells.join(', ')})) AS e(trails, event_type, tenant, created_by,
       created_at_ms, mmr_index, idtimestamp, content_hash)`,
    [...values, ...row],
  );
  return rows[0]!.passes;
}

describe('a search filter in SQL', () => {
  it('is true exactly where the match is, and otherwise false, for any filter and any event', async () => {
    const seen = { true: 0, false: 0 };
    await fc.assert(
      fc.asyncProperty(anyFilter, anyEvent, async (source, event) => {
        const filter = parseSearchFilter(source);
        const expected = matchesSearchFilter(filter, event);
        seen[`${expected}`] += 1;
        expect(await passesInSql(filter, event)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(100);
  });

  it('binds every value and writes none of them', () => {
    const filter = parseSearchFilter(
      "event_type eq 'x'') OR 1=1 --' and trails/any(t: t eq 'boo') and created_at gt 5",
    );
    const { where, values } = searchFilterSql(filter, COLUMNS);
    expect(where).not.toContain('1=1');
    expect(where).not.toContain('boo');
    expect(values).toEqual(["x') OR 1=1 --", 'boo', '5']);
    expect([...where.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]))).toEqual([1, 2, 3]);
  });

  it('orders texts by code point under any collation of the database', () => {
    for (const operator of ['gt', 'ge', 'lt', 'le']) {
      const { where } = searchFilterSql(parseSearchFilter(`event_type ${operator} 'a'`), COLUMNS);
      expect(where).toMatch(/^\(\(e\.event_type\) COLLATE "C" [<>]=? \$1::text /);
    }
  });

  it('leaves the column of an equality bare, so that an index on it is used', () => {
    const { where } = searchFilterSql(parseSearchFilter("event_type eq 'a'"), COLUMNS, () => '?');
    expect(where).toBe('((e.event_type) = ?::text AND (e.event_type) IS NOT NULL)');
  });
});
