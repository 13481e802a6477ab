import type { Tx } from '../postgres/database.js';
import { type Condition, type ConditionMeaning, condition } from './condition.js';
import type { ListOrder } from './list-order.js';

type Term = Extract<ConditionMeaning, { kind: 'term' }>;

/** A table whose texts have an index of terms. */
export interface TermTable {
  /** Its ordered id, as the conditions name it. */
  readonly idColumn: string;
  readonly find: 'archivist.find_assets' | 'archivist.find_asset_events';
  readonly count: 'archivist.count_assets' | 'archivist.count_asset_events';
}

interface TermSearch {
  readonly tenantId: string;
  readonly terms: readonly Term[];
  /** The id that the page before ended with. */
  readonly beyond: string | undefined;
  /** The terms say all that the conditions do. */
  readonly complete: boolean;
}

/**
 * The conditions, and with them the few rows that can meet them, where the index of terms knows these. Where it knows too
 * many the conditions are returned as they are: then rows read in their order soon make a page.
 */
export async function narrowByTerms(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
  page?: { readonly limit: number; readonly order: ListOrder },
): Promise<readonly Condition[]> {
  const search = termSearch(conditions);
  if (!search) return conditions;
  // Where other conditions take their part, it is not known how many of these ids make a page.
  const most = search.complete ? page?.limit : undefined;
  const [row] = await tx.query<{ ids: string[] | null }>(
    `SELECT ${table.find}($1, $2::text[], $3::text[], $4::text[], $5, $6, $7) AS ids`,
    [...searchValues(search), search.beyond ?? null, page?.order !== 'oldest', most ?? null],
  );
  return row?.ids ? [...conditions, condition(`${table.idColumn} = ANY (?::uuid[])`, row.ids)] : conditions;
}

/** How many rows meet the conditions, when the index of terms alone can tell: counted no further than `limit`. */
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

/** Undefined where the conditions have no term, or only such as have indexes of their own. */
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

/** Lists and maps have the term of the text that they read like. */
function readsLikeAStructure({ text }: Term): boolean {
  return text.startsWith('[') || text.startsWith('{');
}

function searchValues({ tenantId, terms }: TermSearch): unknown[] {
  return [tenantId, terms.map(({ place }) => place), terms.map(({ name }) => name), terms.map(({ text }) => text)];
}
