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

/**
 * A table whose rows belong to parts. A portion ends with the row that exceeds a size, or after a number of rows
 * has been read, of which not all are listed.
 */
function readerOf(
  table: readonly (Entry & { readonly part: number })[],
  order: 'newest' | 'oldest',
  most: number,
  rowsRead: number,
): ListReader<Entry> {
  const sorted = [...table].sort((left, right) => (left.id < right.id ? -1 : 1));
  if (order === 'newest') sorted.reverse();
  return {
    idColumn: 'id',
    idOf: ({ id }) => id,
    order,
    count: async () => ({ total: table.length }),
    async list(conditions, limit) {
      const part = conditions.find(({ means }) => means === undefined)!.values[0];
      const [beyond] = conditions.flatMap(({ means }) => (means?.kind === 'beyond' ? means.id : []));
      const isAfter = ({ id }: Entry) => beyond === undefined || (order === 'newest' ? id < beyond : id > beyond);
      const list = sorted.filter((each) => each.part === part && isAfter(each));
      const found = list.slice(0, rowsRead).filter(isListed).slice(0, limit);
      let read = 0;
      const rows = found.filter(({ bytes }) => {
        const before = read;
        read += bytes;
        return before === 0 || before < most;
      });
      if (rows.length < found.length || found.length === limit || list.length < rowsRead)
        return { rows, cut: rows.length < found.length };
      return { rows, cut: true, readTo: list[rowsRead - 1]!.id };
    },
  };
}

/** What the list's filter lets through. */
const isListed = ({ bytes }: Entry) => bytes > 20;

describe('a list over several tenancies', () => {
  it('has every entry once and in order, wherever the portions of its parts end, whether by size or by rows read', () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ number: fc.nat(999), bytes: fc.integer({ min: 1, max: 50 }), part: fc.nat(2) }), {
          selector: ({ number }) => number,
          maxLength: 40,
        }),
        fc.constantFrom('newest', 'oldest'),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 20 }),
        async (rows, order, pageSize, rowsRead) => {
          const table = rows.map(({ number, ...row }) => ({ id: String(number).padStart(3, '0'), ...row }));
          const reader = branchedReader(
            readerOf(table, order, 100, rowsRead),
            [0, 1, 2].map((part) => [condition('part = ?', part)]),
          );
          const found: string[] = [];
          for (let query: ListQuery = { filters: [], pageSize }, more = true; more; ) {
            const page = await listPage(reader, { list: 'test', query, conditions: [], exactTotal: false, tokens });
            expect(page.entries.length).toBeLessThanOrEqual(pageSize);
            more = page.nextPageToken !== '';
            found.push(...page.entries.map(({ id }) => id));
            if (more) query = { ...query, after: (tokens.open(page.nextPageToken) as { after: string }).after };
          }
          const ids = table
            .filter(isListed)
            .map(({ id }) => id)
            .sort();
          expect(found).toEqual(order === 'newest' ? ids.reverse() : ids);
        },
      ),
    ));
});
