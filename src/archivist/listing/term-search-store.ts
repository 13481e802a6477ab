import { type Condition, condition, meaning, renderWhere, type Term } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import type { ListTotal } from '../../platform/listing/list-page.js';
import { type Portion, readPortion } from '../../platform/listing/portion-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import { isOfParent } from './within-parent.js';

/** A table whose texts have an index of terms. */
export interface TermTable {
  readonly table: 'archivist.asset' | 'archivist.asset_event' | 'archivist.asset_free_event';
  /** The name of its rows in conditions. */
  readonly alias: 'a' | 'e';
  /** Its ordered id, as the conditions name it. */
  readonly idColumn: string;
  /** The member of a row that it gives. */
  readonly idMember: string;
  readonly find: 'archivist.find_assets' | 'archivist.find_asset_events' | 'archivist.find_asset_free_events';
  readonly count: 'archivist.count_assets' | 'archivist.count_asset_events' | 'archivist.count_asset_free_events';
}

interface TermSearch {
  readonly tenantId: string;
  readonly terms: readonly Term[];
  /** The last id of the previous page. */
  readonly beyond: string | undefined;
  /** The terms are equivalent to the conditions. */
  readonly complete: boolean;
}

/** So many rows are read in their order before the index of terms is asked. */
const READ_FIRST = 5_000;
/** Where no index finds the rows of a filtered list, so many are read in their order for a page. */
const READ_FOR_PAGE = 10_000;
/** And so many for a total. */
const READ_FOR_TOTAL = 12_000;

/** Whether a parent has so few rows that the first rows of the list are all of them. */
async function isShort(tx: Tx, table: TermTable, conditions: readonly Condition[], order: ListOrder): Promise<boolean> {
  if (!conditions.some(isOfParent)) return false;
  return (await idAt(tx, table, conditions, order, READ_FIRST + 1)) === undefined;
}

/**
 * The page of a filtered list, if the first rows in the list's order fill it: then it costs what is on it. Other ways
 * are for what few rows meet: the index of terms finds every row that has a term before it returns the first one, and
 * the planner, which knows little of documents and of a growing log, may read and sort everything.
 * @returns undefined if they do not fill it, or if an index finds the rows sooner
 */
export async function pageOfFirstRows<Row extends object>(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  page: TermPage,
): Promise<Portion<Row> | undefined> {
  if (!startsFromFirstRows(conditions)) return undefined;
  const found = await rowsAmong<Row>(tx, table, conditions, page, READ_FIRST);
  return isFull(found, page) || (await isShort(tx, table, conditions, page.order)) ? found : undefined;
}

/**
 * The page of a filtered list whose rows no index finds, so that it costs the same in a tenancy of any size: a number of
 * rows is read in their order, and the page ends there, however many of them meet the conditions.
 * @returns undefined if an index finds the rows, or if the list ends sooner
 */
export async function pageOfRowsInOrder<Row extends object>(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  page: TermPage,
): Promise<Portion<Row> | undefined> {
  if (!readsInOrder(conditions)) return undefined;
  const end = await idAt(tx, table, conditions, page.order, READ_FOR_PAGE);
  if (end === undefined) return undefined;
  // By its last id, because rows that have come since then would shift the end of a number of rows.
  const upToEnd = condition(`${table.idColumn} ${page.order === 'newest' ? '>=' : '<='} ?`, end);
  const found = await rowsAmong<Row>(tx, table, [...conditions, meaning({ kind: 'range' }, upToEnd)], page);
  return isFull(found, page) ? found : { rows: found.rows, cut: true, readTo: end };
}

/** The id of the row at this place, from 1, in the list's order, whether it meets the conditions or not. */
async function idAt(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  order: ListOrder,
  place: number,
): Promise<string | undefined> {
  const list = renderWhere(conditions.filter(inOrder));
  const [row] = await tx.query<{ id: string }>(
    `SELECT ${table.idColumn} AS id FROM ${table.table} ${table.alias} WHERE ${list.sql}
      ${inListOrder(table, order)} OFFSET (SELECT ${place - 1}) LIMIT (SELECT 1)`,
    list.values,
  );
  return row?.id;
}

function isFull({ rows, cut }: Portion<object>, { limit }: TermPage): boolean {
  return cut || rows.length === limit;
}

/** Those rows of the page that are among the first rows of the list. */
function rowsAmong<Row extends object>(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  { columns, large, limit, order }: TermPage,
  most?: number,
): Promise<Portion<Row>> {
  const first = firstRows(table, conditions, order, most);
  return readPortion<Row>(tx, {
    sql: `SELECT ${columns} FROM ${first.sql} LIMIT ${limit}`,
    values: first.values,
    large,
    orderBy: rowOrder(table, order),
  });
}

/** A page of rows of a table. */
export interface TermPage {
  /** With the id. */
  readonly columns: string;
  /** Members of a row that can be long. */
  readonly large: readonly string[];
  readonly limit: number;
  readonly order: ListOrder;
}

/** The order of a list, by a member of its rows. */
export function rowOrder({ idMember }: TermTable, order: ListOrder): string {
  return `"${idMember}" ${order === 'newest' ? 'DESC' : 'ASC'}`;
}

/** A condition of the list itself: its tenancy, what it leaves out, or where in its order it starts or ends. */
function ofList({ means }: Condition): boolean {
  return means !== undefined && ['tenancy', 'listed', 'beyond', 'range', 'parent'].includes(means.kind);
}

/** Its rows have an index in the order of the list. */
function isHot({ means }: Condition): boolean {
  return means?.kind === 'term' && means.hot;
}

function isCommon({ means }: Condition): boolean {
  return means?.kind === 'term' && means.common === true;
}

function startsFromFirstRows(conditions: readonly Condition[]): boolean {
  if (!conditions.some(({ means }) => means?.kind === 'tenancy')) return false;
  if (conditions.some(({ means }) => means?.kind === 'few')) return false;
  const passed = conditions.some(isHot) ? isCommon : () => false;
  return conditions.some((each) => !ofList(each) && !isHot(each) && !passed(each));
}

/** No index finds the rows that meet these conditions. */
function readsInOrder(conditions: readonly Condition[]): boolean {
  return startsFromFirstRows(conditions) && !conditions.some(({ means }) => means?.kind === 'indexed');
}

/** A condition that an index of the list's order covers. */
function inOrder(each: Condition): boolean {
  return ofList(each) || isHot(each);
}

function inListOrder({ idColumn }: TermTable, order: ListOrder): string {
  return `ORDER BY ${idColumn} ${order === 'newest' ? 'DESC' : 'ASC'}`;
}

/**
 * A number in SQL that the planner does not see: one that it sees makes it read and sort everything where it has no
 * statistics of the table yet.
 */
function hidden(number: number | 'NULL'): string {
  return `(SELECT ${number}::bigint)`;
}

/** So many rows of a list, in SQL, if an index has them in its order; then no other way is better. */
export function limitInOrder(conditions: readonly Condition[], limit: number): string {
  return conditions.every(inOrder) ? hidden(limit) : String(limit);
}

/** Those of the first rows that meet the conditions, in the list's order; of all rows if no number is given. */
function firstRows(
  table: TermTable,
  conditions: readonly Condition[],
  order: ListOrder,
  most?: number,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const where = renderWhere(conditions);
  const list = renderWhere(conditions.filter(inOrder), where.values.length);
  const { alias } = table;
  const ordered = inListOrder(table, order);
  const first = `LIMIT ${hidden(most ?? 'NULL')}`;
  return {
    sql: `(SELECT * FROM ${table.table} ${alias} WHERE ${list.sql} ${ordered} ${first}) ${alias} WHERE ${where.sql} ${ordered}`,
    values: [...where.values, ...list.values],
  };
}

/**
 * The conditions, restricted to the few rows that can meet them if the index of terms finds few. If it finds too many,
 * the conditions are returned unchanged, because reading rows in order then fills a page quickly.
 */
export async function narrowByTerms(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  page?: { readonly limit: number; readonly order: ListOrder },
): Promise<readonly Condition[]> {
  const search = termSearch(conditions);
  if (!search) return conditions;
  // With other conditions, it is unknown how many of these ids make a page.
  const most = search.complete ? page?.limit : undefined;
  const [row] = await tx.query<{ ids: string[] | null }>(
    `SELECT ${table.find}($1, $2::text[], $3::text[], $4::text[], $5, $6, $7) AS ids`,
    [...searchValues(search), search.beyond ?? null, page?.order !== 'oldest', most ?? null],
  );
  if (!row?.ids) return conditions;
  return [...conditions, meaning({ kind: 'few' }, condition(`${table.idColumn} = ANY (?::uuid[])`, row.ids))];
}

/**
 * Number of rows that meet the conditions, if the first rows in the list's order or the index of terms are enough to
 * tell; counting stops at `limit`.
 */
export async function countByTerms(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  limit: number | undefined,
): Promise<number | undefined> {
  if (limit !== undefined && startsFromFirstRows(conditions)) {
    const total = await countAmong(tx, table, conditions, limit, READ_FIRST);
    if (total === limit || (await isShort(tx, table, conditions, 'newest'))) return total;
  }
  const search = termSearch(conditions);
  if (!search?.complete || search.beyond !== undefined) return undefined;
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT ${table.count}($1, $2::text[], $3::text[], $4::text[], $5) AS total`,
    [...searchValues(search), limit ?? null],
  );
  return Number(row?.total ?? 0);
}

/** The total of a list whose rows no index finds, as far as it was counted; undefined if an index finds them. */
export async function countOfRowsInOrder(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  limit: number | undefined,
): Promise<ListTotal | undefined> {
  if (limit === undefined || !readsInOrder(conditions)) return undefined;
  const total = await countAmong(tx, table, conditions, limit, READ_FOR_TOTAL);
  if (total === limit) return { total };
  return { total, cut: (await idAt(tx, table, conditions, 'newest', READ_FOR_TOTAL + 1)) !== undefined };
}

/** The number of those of the first rows that meet the conditions; counting stops at `limit`. */
async function countAmong(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  limit: number,
  most: number,
): Promise<number> {
  const first = firstRows(table, conditions, 'newest', most);
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM (SELECT 1 FROM ${first.sql} LIMIT ${limit}) AS counted`,
    first.values,
  );
  return Number(row?.total ?? 0);
}

/** Undefined if the conditions have no term, or only terms with indexes of their own and common ones. */
function termSearch(conditions: readonly Condition[]): TermSearch | undefined {
  const meanings = conditions.flatMap(({ means }) => means ?? []);
  const terms = meanings.filter((means) => means.kind === 'term');
  const tenancy = meanings.find((means) => means.kind === 'tenancy');
  if (!tenancy || terms.every(({ hot, common }) => hot || common)) return undefined;
  return {
    tenantId: tenancy.tenantId,
    terms,
    beyond: meanings.find((means) => means.kind === 'beyond')?.id,
    complete: conditions.every(isTermSearch) && terms.every(({ whole }) => whole) && !terms.some(readsLikeAStructure),
  };
}

/** The functions of the index of terms know nothing else. */
function isTermSearch({ means }: Condition): boolean {
  return means !== undefined && ['term', 'tenancy', 'listed', 'beyond'].includes(means.kind);
}

/** Lists and maps have the term of a text with the same content. */
function readsLikeAStructure({ text }: Term): boolean {
  return text.startsWith('[') || text.startsWith('{');
}

function searchValues({ tenantId, terms }: TermSearch): unknown[] {
  return [tenantId, terms.map(({ place }) => place), terms.map(({ name }) => name), terms.map(({ text }) => text)];
}
