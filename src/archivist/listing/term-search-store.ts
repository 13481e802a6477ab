import { type Condition, condition, renderWhere, type Term } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import { type Portion, readPortion } from '../../platform/listing/portion-store.js';
import type { Tx } from '../../platform/postgres/database.js';

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
/** A number that the planner sees makes it read and sort everything where it has no statistics of the table yet. */
const FIRST = `LIMIT (SELECT ${READ_FIRST})`;

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
  { columns, large, limit, order }: TermPage,
): Promise<Portion<Row> | undefined> {
  if (!startsFromFirstRows(conditions)) return undefined;
  const first = firstRows(table, conditions, order);
  const found = await readPortion<Row>(tx, {
    sql: `SELECT ${columns} FROM ${first.sql} LIMIT ${limit}`,
    values: first.values,
    large,
    orderBy: rowOrder(table, order),
  });
  return found.cut || found.rows.length === limit ? found : undefined;
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
  return means !== undefined && ['tenancy', 'listed', 'beyond', 'range'].includes(means.kind);
}

function startsFromFirstRows(conditions: readonly Condition[]): boolean {
  if (!conditions.some(({ means }) => means?.kind === 'tenancy')) return false;
  if (conditions.some(({ means }) => means?.kind === 'few')) return false;
  return conditions.some((each) => !ofList(each) && !(each.means?.kind === 'term' && each.means.hot));
}

/** Those of the first rows that meet the conditions, in the list's order. */
function firstRows(
  { table, alias, idColumn }: TermTable,
  conditions: readonly Condition[],
  order: ListOrder,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const where = renderWhere(conditions);
  const list = renderWhere(conditions.filter(ofList), where.values.length);
  const ordered = `ORDER BY ${idColumn} ${order === 'newest' ? 'DESC' : 'ASC'}`;
  return {
    sql: `(SELECT * FROM ${table} ${alias} WHERE ${list.sql} ${ordered} ${FIRST}) ${alias} WHERE ${where.sql} ${ordered}`,
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
  return row?.ids ? [...conditions, condition(`${table.idColumn} = ANY (?::uuid[])`, row.ids)] : conditions;
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
  if (limit !== undefined && !conditions.some(({ means }) => means?.kind === 'few')) {
    if ((await countOfFirstRows(tx, table, conditions, limit)) === limit) return limit;
  }
  const search = termSearch(conditions);
  if (!search?.complete || search.beyond !== undefined) return undefined;
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT ${table.count}($1, $2::text[], $3::text[], $4::text[], $5) AS total`,
    [...searchValues(search), limit ?? null],
  );
  return Number(row?.total ?? 0);
}

/** The number of first rows that meet the conditions; counting stops at `limit`. */
async function countOfFirstRows(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  limit: number,
): Promise<number> {
  const first = firstRows(table, conditions, 'newest');
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM (SELECT 1 FROM ${first.sql} LIMIT ${limit}) AS counted`,
    first.values,
  );
  return Number(row?.total ?? 0);
}

/** Undefined if the conditions have no term, or only terms with indexes of their own. */
function termSearch(conditions: readonly Condition[]): TermSearch | undefined {
  const meanings = conditions.flatMap(({ means }) => means ?? []);
  const terms = meanings.filter((means) => means.kind === 'term');
  const tenancy = meanings.find((means) => means.kind === 'tenancy');
  if (!tenancy || terms.every(({ hot }) => hot)) return undefined;
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
