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
  return {
    ...reader,
    async list(shared, limit) {
      let found: Portion<Entry> = { rows: [], cut: false };
      for (const branch of branches) found = merged(found, await reader.list([...branch, ...shared], limit), reader);
      return { ...found, rows: found.rows.slice(0, limit) };
    },
    async count(shared, limit) {
      let [total, cut] = [0, false];
      for (const branch of branches) {
        if (limit !== undefined && total >= limit) break;
        const counted = await reader.count([...branch, ...shared], limit === undefined ? undefined : limit - total);
        total += counted.total;
        cut ||= counted.cut === true;
      }
      return { total, cut };
    },
  };
}

/** Entries of both parts in their order, up to the first place after which one of them may have others. */
function merged<Entry>(
  left: Portion<Entry>,
  right: Portion<Entry>,
  { idOf, order }: ListReader<Entry>,
): Portion<Entry> {
  const sign = order === 'oldest' ? 1 : -1;
  const byId = (one: string, other: string) => (one === other ? 0 : one < other ? -sign : sign);
  const ends = [left, right].flatMap(({ rows, cut, readTo }) => (cut ? (readTo ?? rows.slice(-1).map(idOf)) : []));
  const rows = [...left.rows, ...right.rows].sort((one, other) => byId(idOf(one), idOf(other)));
  const [readTo] = ends.sort(byId);
  if (readTo === undefined) return { rows, cut: false };
  return { rows: rows.filter((row) => byId(idOf(row), readTo) <= 0), cut: true, readTo };
}
