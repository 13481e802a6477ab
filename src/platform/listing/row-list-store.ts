import { ApiError } from '../errors.js';
import type { Tx } from '../postgres/database.js';
import { type Condition, renderWhere } from './condition.js';
import { NAME_ORDERS } from './list-order.js';
import type { ListReader, ListTotal } from './list-page.js';
import type { Filters } from './list-query.js';
import { type Portion, readPortion } from './portion-store.js';

/** Rows of one table as the entries of a list; columns and conditions refer to the table by its alias. */
interface ListedTable<Entry> {
  /** `archivist.location l` */
  readonly from: string;
  readonly columns: string;
  /** Members of an entry that can be long: `attributes`. */
  readonly large: readonly (keyof Entry & string)[];
  /** `l.location_id`: later entries have higher ones. */
  readonly idColumn: string;
  idOf(entry: Entry): string;
  /** `l.display_name`, if the list can be sorted by it. */
  readonly nameColumn?: string;
  nameOf?(entry: Entry): string;
}

/** How a table is listed. */
export interface RowList<Entry> {
  /** The first `limit` rows that meet all conditions, newest first, or fewer if they are large. */
  list(tx: Tx, conditions: readonly Condition[], limit: number): Promise<Portion<Entry>>;
  /** In the order of `order_by` among the filters. @throws {ApiError} bad_request for an unknown order */
  reader(tx: Tx, filters: Filters): ListReader<Entry>;
}

const UUID_LENGTH = 36;

/** An expression, and whether its lower values come first. */
type Order = readonly [by: string, direction: 'ASC' | 'DESC'];

export function rowList<Entry extends object>(table: ListedTable<Entry>): RowList<Entry> {
  const { from, columns, large, idColumn, idOf } = table;
  const read = async (tx: Tx, conditions: readonly Condition[], limit: number, [by, direction]: Order) => {
    const where = renderWhere(conditions, 1);
    const { rows, cut } = await readPortion<Entry & { list_place: unknown }>(tx, {
      sql: `SELECT ${columns}, ${by} AS list_place FROM ${from} WHERE ${where.sql} ORDER BY ${by} ${direction} LIMIT $1`,
      values: [limit, ...where.values],
      large,
      orderBy: `list_place ${direction}`,
    });
    return { rows: rows.map(({ list_place, ...entry }) => entry as unknown as Entry), cut };
  };
  const newestFirst: Order = [idColumn, 'DESC'];
  const count = async (tx: Tx, conditions: readonly Condition[], limit?: number): Promise<ListTotal> => {
    const where = renderWhere(conditions, 1);
    const [row] = await tx.query<{ total: bigint }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM ${from} WHERE ${where.sql} LIMIT $1) AS counted`,
      [limit ?? null, ...where.values],
    );
    return { total: Number(row!.total) };
  };
  // The id separates equal names; compared by bytes, so that the order is the same in every database.
  const nameAndId = `ARRAY[${table.nameColumn}, ${idColumn}::text] COLLATE "C"`;
  return {
    list: (tx, conditions, limit) => read(tx, conditions, limit, newestFirst),
    reader(tx, filters) {
      const byName = isByName(filters);
      return {
        order: byName ? 'oldest' : 'newest',
        idColumn: byName ? nameAndId : idColumn,
        idOf: (entry) => (byName ? `${table.nameOf?.(entry)} ${idOf(entry)}` : idOf(entry)),
        ...(byName ? { placeOf: nameAndIdOf } : {}),
        list: (conditions, limit) => read(tx, conditions, limit, byName ? [nameAndId, 'ASC'] : newestFirst),
        count: (conditions, limit) => count(tx, conditions, limit),
      };
    },
  };
}

/** The name and the id of a page token: a UUID ends it, so a name with spaces is read whole. */
function nameAndIdOf(id: string): readonly [name: string, id: string] {
  return [id.slice(0, -UUID_LENGTH - 1), id.slice(-UUID_LENGTH)];
}

/** A list without this order has already refused the filter. */
function isByName(filters: Filters): boolean {
  const order = filters.find(([name]) => name === 'order_by')?.[1] ?? 'DEFAULT';
  if (!NAME_ORDERS.includes(order))
    throw new ApiError('bad_request', `order_by: must be one of ${NAME_ORDERS.join(', ')}`);
  return order === 'DISPLAY_NAME';
}
