import type { Condition } from '../../platform/listing/condition.js';
import type { ListReader } from '../../platform/listing/list-page.js';

/**
 * Reads a list that has a part in each of several tenancies as one: every part is a range of its own index, and what they
 * find is merged by id.
 * @param branches conditions of each part; parts have no row in common
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
