import type { Tx } from '../postgres/database.js';
import { type Condition, type ConditionMeaning, condition } from './condition.js';
import type { ListOrder } from './list-order.js';

type Term = Extract<ConditionMeaning, { kind: 'term' }>;

/** A table whose texts have an index of terms. */
interface TermTable {
  /** Its ordered id, as the conditions name it. */
  readonly idColumn: string;
  readonly find: 'archivist.find_assets' | 'archivist.find_asset_events';
  readonly count: 'archivist.count_assets' | 'archivist.count_asset_events';
}

interface TermSearch {
  readonly tenantId: string;
  readonly terms: readonly Term[];
  /** The last id of the previous page. */
  readonly beyond: string | undefined;
  /** The terms are equivalent to the conditions. */
  readonly complete: boolean;
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

/** Number of rows that meet the conditions, if the index of terms is enough to tell; counting stops at `limit`. */
export async function countByTerms(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  limit: number | undefined,
): Promise<number | undefined> {
  const search = termSearch(conditions);
  if (!search?.complete || search.beyond !== undefined) return undefined;
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT ${table.count}($1, $2::text[], $3::text[], $4::text[], $5) AS total`,
    [...searchValues(search), limit ?? null],
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
    complete:
      meanings.length === conditions.length && terms.every(({ whole }) => whole) && !terms.some(readsLikeAStructure),
  };
}

/** Lists and maps have the term of a text with the same content. */
function readsLikeAStructure({ text }: Term): boolean {
  return text.startsWith('[') || text.startsWith('{');
}

function searchValues({ tenantId, terms }: TermSearch): unknown[] {
  return [tenantId, terms.map(({ place }) => place), terms.map(({ name }) => name), terms.map(({ text }) => text)];
}
