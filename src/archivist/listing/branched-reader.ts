import type { Condition } from '../../platform/listing/condition.js';
import type { ListReader } from '../../platform/listing/list-page.js';
import type { Portion } from '../../platform/listing/portion-store.js';

/**
 * Reads a list whose parts are in several tenancies as one list: each part is an index range, and the results are
 * merged by id.
 * @param branches conditions of each part; no row belongs to two parts
 */
export function branchedReader<Entry>(
  reader: ListReader<Entry>,
  branches: readonly (readonly Condition[])[],
): ListReader<Entry> {
  const sign = reader.order === 'oldest' ? 1 : -1;
  const byId = (left: Entry, right: Entry) => (reader.idOf(left) < reader.idOf(right) ? -sign : sign);
  return {
    ...reader,
    async list(shared, limit) {
      let found: Portion<Entry> = { rows: [], cut: false };
      for (const branch of branches) found = merged(found, await reader.list([...branch, ...shared], limit), byId);
      return { rows: found.rows.slice(0, limit), cut: found.cut };
    },
    async count(shared, limit) {
      let total = 0;
      for (const branch of branches) {
        if (limit !== undefined && total >= limit) return limit;
        total += await reader.count([...branch, ...shared], limit === undefined ? undefined : limit - total);
      }
      return total;
    },
  };
}

/** Entries of both parts in their order, up to the first place after which one of them may have others. */
function merged<Entry>(
  left: Portion<Entry>,
  right: Portion<Entry>,
  compare: (left: Entry, right: Entry) => number,
): Portion<Entry> {
  const ends = [left, right].flatMap(({ rows, cut }) => (cut ? rows.slice(-1) : []));
  const [end] = ends.sort(compare);
  const rows = [...left.rows, ...right.rows].sort(compare);
  return { rows: end ? rows.slice(0, rows.indexOf(end) + 1) : rows, cut: end !== undefined };
}
