import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttributeFilter, AttributeTest } from '../../src/filter/attribute-filter.js';
import { attributeFilterSql } from '../../src/filter/filter-sql.js';
import { matchesAttributeFilter } from '../../src/filter/matches.js';
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

// Few names that meet often, and beside them those that a careless reader would trip over.
const MEETING = ['a', 'b', 'a.b', 'b.0'];
const NAMES = ['a', 'b', 'a.b', 'a.b.a', 'b.0', '0', '', '__proto__', 'é', "'; --", '?', '$1'];
const VALUES = ['x', '', 'y', 'é', '\u{10400}', '{}', '{"b": "x"}', '["x"]', 'null', '1', 'true', '*'];

const anyName = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...MEETING) }, fc.constantFrom(...NAMES));

const { value: anyValue } = fc.letrec<{ value: unknown; map: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(...VALUES.slice(0, 3), null),
    fc.constantFrom<unknown>(...VALUES, 1, 0, true, false),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('map'),
  ),
  map: fc.array(fc.tuple(anyName, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
}));
const anyAttributes = fc
  .array(fc.tuple(anyName, anyValue), { maxLength: 6 })
  .map((entries) => Object.fromEntries(entries) as Record<string, unknown>)
  .filter((attributes) => !JSON.stringify(attributes).includes('\\u0000'));

const anyTest: fc.Arbitrary<AttributeTest> = fc
  .tuple(anyName, fc.option(fc.constantFrom(...VALUES.slice(0, 3), ...VALUES), { freq: 1 }), fc.boolean())
  .map(([name, value, negated]) =>
    value === null ? { kind: 'filled', name, negated } : { kind: 'equals', name, value, negated },
  );
const anyFilter: fc.Arbitrary<AttributeFilter> = fc.oneof(
  anyTest.map((test) => [[test]]),
  fc.array(fc.array(anyTest, { maxLength: 3 }), { maxLength: 3 }),
);

async function passesInSql(
  filter: AttributeFilter,
  attributes: Record<string, unknown>,
  indexed: Record<string, string>,
): Promise<unknown> {
  const { where, values } = attributeFilterSql(filter, { column: 't.attributes', indexed });
  const { rows } = await engine.query<{ passes: unknown }>(
    `SELECT (${where}) AS passes FROM (SELECT $${values.length + 1}::jsonb AS attributes) AS t`,
    [...values, JSON.stringify(attributes)],
  );
  return rows[0]!.passes;
}

describe('an attribute filter in SQL', () => {
  it('is true exactly where the match is, and otherwise false, for any filter and any object', async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(anyFilter, anyAttributes, fc.boolean(), async (filter, attributes, byIndex) => {
        const indexed: Record<string, string> = byIndex
          ? { a: "t.attributes ->> 'a'", 'a.b': "t.attributes ->> 'a.b'" }
          : {};
        // An index stands for the literal key alone.
        if (byIndex && JSON.stringify(filter).includes('"a.b"')) return;
        const expected = matchesAttributeFilter(filter, attributes);
        if (expected) passed += 1;
        expect(await passesInSql(filter, attributes, indexed)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    expect(passed).toBeGreaterThan(50);
  });

  it('reads an indexed column for equality, and still tells a text from a map that reads the same', async () => {
    const filter: AttributeFilter = [[{ kind: 'equals', name: 'a', value: '{"b": "x"}', negated: false }]];
    const indexed = { a: "t.attributes ->> 'a'" };
    expect(attributeFilterSql(filter, { column: 't.attributes', indexed }).where).toContain(`${indexed.a} = $1::text`);
    expect(await passesInSql(filter, { a: '{"b": "x"}' }, indexed)).toBe(true);
    expect(await passesInSql(filter, { a: { b: 'x' } }, indexed)).toBe(false);
  });

  it('binds every name and value and writes none of them', () => {
    const evil = "x') OR 1=1 --";
    const filter: AttributeFilter = [
      [
        { kind: 'equals', name: `${evil}.n`, value: evil, negated: false },
        { kind: 'filled', name: evil, negated: true },
      ],
    ];
    const { where, values } = attributeFilterSql(filter, { column: 'c' });
    expect(where).not.toContain('1=1');
    expect(values).toEqual([`${evil}.n`, evil, 'n', evil, evil]);
    expect([...where.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]))).toEqual([1, 2, 3, 4, 5]);
  });

  it('numbers its placeholders as the caller does', () => {
    const filter: AttributeFilter = [[{ kind: 'equals', name: 'a', value: 'b', negated: false }]];
    expect(attributeFilterSql(filter, { column: 'c' }, () => '?').where).toBe(
      '(((c -> ?::text) IS NOT DISTINCT FROM to_jsonb(?::text)))',
    );
    expect(attributeFilterSql(filter, { column: 'c' }, (position) => `$${position + 4}`).where).toContain('$5::text');
  });
});
