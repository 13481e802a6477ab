import type { PageTokens } from '../postgres/page-token.js';
import { type Condition, condition, meaning } from './condition.js';
import type { ListOrder } from './list-order.js';
import { type ListQuery, nextPageToken, RESULT_LIMIT } from './list-query.js';
import type { Portion } from './portion-store.js';

/** One page of a list, and the number of entries in the whole list as far as it was counted. */
export interface Page<Entry> {
  readonly entries: Entry[];
  readonly nextPageToken: string;
  readonly total: number;
}

/** How a list reads its table. */
export interface ListReader<Entry> {
  /** The ordered id column, as the conditions name it. */
  readonly idColumn: string;
  idOf(entry: Entry): string;
  readonly order: ListOrder;
  /** The first entries that meet the conditions: at most `limit`, fewer if they are large. */
  list(conditions: readonly Condition[], limit: number): Promise<Portion<Entry>>;
  count(conditions: readonly Condition[], limit?: number): Promise<number>;
}

/**
 * Reads one page by keyset. A page of large entries is shorter than its size. The total is exact on request, otherwise
 * counting stops one past the result limit (docs/design/interface.md#lists).
 */
export async function listPage<Entry>(
  reader: ListReader<Entry>,
  page: {
    readonly list: string;
    readonly query: ListQuery;
    readonly conditions: readonly Condition[];
    readonly exactTotal: boolean;
    readonly tokens: PageTokens;
  },
): Promise<Page<Entry>> {
  const { query, conditions } = page;
  const comparison = reader.order === 'oldest' ? '>' : '<';
  const beyond =
    query.after === undefined
      ? []
      : [meaning({ kind: 'beyond', id: query.after }, condition(`${reader.idColumn} ${comparison} ?`, query.after))];
  const found = await reader.list([...conditions, ...beyond], query.pageSize + 1);
  const entries = found.rows.slice(0, query.pageSize);
  const last = entries.at(-1);
  const more = (found.cut || found.rows.length > entries.length) && last !== undefined;
  // A first page that holds the whole list is also its count.
  const counted = query.after === undefined && !more ? entries.length : undefined;
  return {
    entries,
    nextPageToken: more ? nextPageToken(page.list, query, reader.idOf(last), page.tokens) : '',
    total: counted ?? (await reader.count(conditions, page.exactTotal ? undefined : RESULT_LIMIT + 1)),
  };
}
