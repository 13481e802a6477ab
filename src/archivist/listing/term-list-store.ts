import { type Condition, renderWhere } from '../../platform/listing/condition.js';
import type { ListTotal } from '../../platform/listing/list-page.js';
import { type Portion, readPortion } from '../../platform/listing/portion-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import { narrowByAlternatives } from './alternative-search-store.js';
import {
  countByTerms,
  countOfRowsInOrder,
  limitInOrder,
  narrowByTerms,
  pageOfFirstRows,
  pageOfRowsInOrder,
  rowOrder,
  type TermPage,
  type TermTable,
} from './term-search-store.js';
import { withinParent } from './within-parent.js';

/**
 * The first rows that meet all conditions, in the list's order: `limit` of them, or fewer large ones. Where no index finds
 * them, the portion ends after a number of rows, whether they meet the conditions or not, and says how far it has read.
 */
export async function listByTerms<Row extends object>(
  tx: Tx,
  table: TermTable,
  asked: readonly Condition[],
  page: TermPage,
): Promise<Portion<Row>> {
  const conditions = withinParent(await narrowByAlternatives(tx, table, asked));
  const first = await pageOfFirstRows<Row>(tx, table, conditions, page);
  if (first) return first;
  const narrowed = await narrowByTerms(tx, table, conditions, page);
  const inOrder = await pageOfRowsInOrder<Row>(tx, table, narrowed, page);
  if (inOrder) return inOrder;
  const where = renderWhere(narrowed);
  return readPortion<Row>(tx, {
    sql: `SELECT ${page.columns} FROM ${table.table} ${table.alias} WHERE ${where.sql}
      ORDER BY ${table.idColumn} ${page.order === 'newest' ? 'DESC' : 'ASC'} LIMIT ${limitInOrder(narrowed, page.limit)}`,
    values: where.values,
    large: page.large,
    orderBy: rowOrder(table, page.order),
  });
}

/**
 * For the rows that an index finds, some ten million. With less, PostgreSQL remembers only the pages that they are on, and
 * makes the terms of every row there again: that takes ten times as long.
 */
const COUNTING_MEMORY = '128MB';

/**
 * Counts the rows that meet all conditions, up to `limit` if one is given. With a limit, and where no index finds the
 * rows, counting also stops after a number of rows, whether they meet the conditions or not.
 */
export async function countRows(
  tx: Tx,
  table: TermTable,
  asked: readonly Condition[],
  limit?: number,
): Promise<ListTotal> {
  if (limit === undefined) await tx.query("SELECT set_config('work_mem', $1, true)", [COUNTING_MEMORY]);
  const conditions = withinParent(await narrowByAlternatives(tx, table, asked));
  const counted = await countByTerms(tx, table, conditions, limit);
  if (counted !== undefined) return { total: counted };
  const narrowed = await narrowByTerms(tx, table, conditions);
  const inOrder = await countOfRowsInOrder(tx, table, narrowed, limit);
  if (inOrder !== undefined) return inOrder;
  const where = renderWhere(narrowed);
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM (SELECT 1 FROM ${table.table} ${table.alias} WHERE ${where.sql}
       ${limit === undefined ? '' : `LIMIT ${limit}`}) AS counted`,
    where.values,
  );
  return { total: Number(row?.total ?? 0) };
}
