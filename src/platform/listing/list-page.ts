import type { PageTokens } from '../postgres/page-token.js';
import { type Condition, condition, meaning } from './condition.js';
import type { ListOrder } from './list-order.js';
import { type ListQuery, nextPageToken, RESULT_LIMIT } from './list-query.js';
import type { Portion } from './portion-store.js';

/** The number of entries in a whole list, as far as it was counted. */
export interface ListTotal {
  readonly total: number;
  /** Counting ended where no more than `total` entries were found, and the list goes on. */
  readonly cut?: boolean;
}

/** One page of a list. */
export interface Page<Entry> extends ListTotal {
  readonly entries: Entry[];
  readonly nextPageToken: string;
}

/** How a list reads its table. */
export interface ListReader<Entry> {
  /** The ordered id column, as the conditions name it. */
  readonly idColumn: string;
  idOf(entry: Entry): string;
  /** The value of the id column that an id of `idOf` stands for; the id itself unless told. */
  placeOf?(id: string): unknown;
  readonly order: ListOrder;
  /** The first entries that meet the conditions: at most `limit`, fewer if they are large or lie far apart. */
  list(conditions: readonly Condition[], limit: number): Promise<Portion<Entry>>;
  count(conditions: readonly Condition[], limit?: number): Promise<ListTotal>;
}

/**
 * Reads one page by keyset. A page of large entries is shorter than its size, and so is one whose entries lie far apart.
 * The total is exact on request, otherwise counting stops one past the result limit (docs/design/interface.md#lists).
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
  const after = query.after === undefined ? [] : [query.after];
  const beyond = after.map((id) =>
    meaning({ kind: 'beyond', id }, condition(`${reader.idColumn} ${comparison} ?`, reader.placeOf?.(id) ?? id)),
  );
  const found = await reader.list([...conditions, ...beyond], query.pageSize + 1);
  const entries = found.rows.slice(0, query.pageSize);
  const end = endOf(found, entries, reader);
  // A first page that holds the whole list is also its count.
  const counted = query.after === undefined && end === undefined ? { total: entries.length } : undefined;
  return {
    ...(counted ?? (await reader.count(conditions, page.exactTotal ? undefined : RESULT_LIMIT + 1))),
    entries,
    nextPageToken: end === undefined ? '' : nextPageToken(page.list, query, end, page.tokens),
  };
}

/** The id after which the next page begins; undefined if this page ends the list. */
function endOf<Entry>(
  found: Portion<Entry>,
  entries: readonly Entry[],
  { idOf }: Pick<ListReader<Entry>, 'idOf'>,
): string | undefined {
  const last = entries.at(-1);
  const shown = last === undefined ? undefined : idOf(last);
  if (found.rows.length > entries.length) return shown;
  return found.cut ? (found.readTo ?? shown) : undefined;
}
