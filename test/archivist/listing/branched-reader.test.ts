import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchedReader } from '../../../src/archivist/listing/branched-reader.js';
import { condition } from '../../../src/platform/listing/condition.js';
import { type ListReader, listPage } from '../../../src/platform/listing/list-page.js';
import type { ListQuery } from '../../../src/platform/listing/list-query.js';
import { createPageTokens } from '../../../src/platform/postgres/page-token.js';

const tokens = createPageTokens(Buffer.alloc(32));

interface Entry {
  readonly id: string;
  readonly bytes: number;
}

/** A table whose rows belong to parts, and whose portions end with the row that exceeds a size. */
function readerOf(
  table: readonly (Entry & { readonly part: number })[],
  order: 'newest' | 'oldest',
  most: number,
): ListReader<Entry> {
  const sorted = [...table].sort((left, right) => (left.id < right.id ? -1 : 1));
  if (order === 'newest') sorted.reverse();
  return {
    idColumn: 'id',
    idOf: ({ id }) => id,
    order,
    count: async () => table.length,
    async list(conditions, limit) {
      const part = conditions.find(({ means }) => means === undefined)!.values[0];
      const [beyond] = conditions.flatMap(({ means }) => (means?.kind === 'beyond' ? means.id : []));
      const isAfter = ({ id }: Entry) => beyond === undefined || (order === 'newest' ? id < beyond : id > beyond);
      const found = sorted.filter((each) => each.part === part && isAfter(each)).slice(0, limit);
      let read = 0;
      const rows = found.filter(({ bytes }) => {
        const before = read;
        read += bytes;
        return before === 0 || before < most;
      });
      return { rows, cut: rows.length < found.length };
    },
  };
}

describe('a list over several tenancies', () => {
  it('has every entry once and in order, wherever the portions of its parts end', () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ number: fc.nat(999), bytes: fc.integer({ min: 1, max: 50 }), part: fc.nat(2) }), {
          selector: ({ number }) => number,
          maxLength: 40,
        }),
        fc.constantFrom('newest', 'oldest'),
        fc.integer({ min: 1, max: 12 }),
        async (rows, order, pageSize) => {
          const table = rows.map(({ number, ...row }) => ({ id: String(number).padStart(3, '0'), ...row }));
          const reader = branchedReader(
            readerOf(table, order, 100),
            [0, 1, 2].map((part) => [condition('part = ?', part)]),
          );
          const found: string[] = [];
          for (let query: ListQuery = { filters: [], pageSize }, more = true; more; ) {
            const page = await listPage(reader, { list: 'test', query, conditions: [], exactTotal: false, tokens });
            expect(page.entries.length).toBeLessThanOrEqual(pageSize);
            more = page.nextPageToken !== '';
            expect(more && page.entries.length === 0).toBe(false);
            found.push(...page.entries.map(({ id }) => id));
            if (more) query = { ...query, after: found.at(-1)! };
          }
          const ids = table.map(({ id }) => id).sort();
          expect(found).toEqual(order === 'newest' ? ids.reverse() : ids);
        },
      ),
    ));
});
