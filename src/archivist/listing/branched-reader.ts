import type { Condition } from '../../platform/listing/condition.js';
import type { ListReader } from '../../platform/listing/list-page.js';

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
      const found: Entry[] = [];
      for (const branch of branches) found.push(...(await reader.list([...branch, ...shared], limit)));
      return branches.length === 1 ? found : found.sort(byId).slice(0, limit);
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
