import { ApiError } from '../errors.js';
import type { Tx } from '../postgres/database.js';
import { type Condition, renderWhere } from './condition.js';
import type { ListReader } from './list-page.js';
import type { Filters } from './list-query.js';

/** Rows of one table as the entries of a list; columns and conditions refer to the table by its alias. */
interface ListedTable<Row, Entry> {
  /** `archivist.location l` */
  readonly from: string;
  readonly columns: string;
  /** `l.location_id`: later entries have higher ones. */
  readonly idColumn: string;
  idOf(entry: Entry): string;
  /** `l.display_name`, if the list can be sorted by it. */
  readonly nameColumn?: string;
  nameOf?(entry: Entry): string;
  entryOf(row: Row): Entry;
}

/** How a table is listed. */
export interface RowList<Entry> {
  /** The first `limit` rows that meet all conditions, by default newest first. */
  list(tx: Tx, conditions: readonly Condition[], limit: number, orderBy?: string): Promise<Entry[]>;
  /** In the order of `order_by` among the filters. @throws {ApiError} bad_request for an unknown order */
  reader(tx: Tx, filters: Filters): ListReader<Entry>;
}

export function rowList<Row extends object, Entry>(table: ListedTable<Row, Entry>): RowList<Entry> {
  const { from, columns, idColumn, idOf, entryOf } = table;
  const newestFirst = `${idColumn} DESC`;
  const list: RowList<Entry>['list'] = async (tx, conditions, limit, orderBy = newestFirst) => {
    const where = renderWhere(conditions, 1);
    const text = `SELECT ${columns} FROM ${from} WHERE ${where.sql} ORDER BY ${orderBy} LIMIT $1`;
    return (await tx.query<Row>(text, [limit, ...where.values])).map(entryOf);
  };
  const count = async (tx: Tx, conditions: readonly Condition[], limit?: number): Promise<number> => {
    const where = renderWhere(conditions, 1);
    const [row] = await tx.query<{ total: bigint }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM ${from} WHERE ${where.sql} LIMIT $1) AS counted`,
      [limit ?? null, ...where.values],
    );
    return Number(row!.total);
  };
  // The id separates equal names; compared by bytes, so that the order is the same in every database.
  const nameAndId = `(${table.nameColumn} || ' ' || ${idColumn}::text) COLLATE "C"`;
  return {
    list,
    reader(tx, filters) {
      const byName = isByName(filters);
      return {
        order: byName ? 'oldest' : 'newest',
        idColumn: byName ? nameAndId : idColumn,
        idOf: (entry) => (byName ? `${table.nameOf?.(entry)} ${idOf(entry)}` : idOf(entry)),
        list: (conditions, limit) => list(tx, conditions, limit, byName ? nameAndId : newestFirst),
        count: (conditions, limit) => count(tx, conditions, limit),
      };
    },
  };
}

/** A list without this order has already refused the filter. */
function isByName(filters: Filters): boolean {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (order !== 'DEFAULT' && order !== 'DISPLAY_NAME')
    throw new ApiError('bad_request', 'order_by: must be one of DEFAULT, DISPLAY_NAME');
  return order === 'DISPLAY_NAME';
}
