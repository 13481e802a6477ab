import { type Condition, type ConditionMeaning, condition, meaning } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { TermTable } from './term-search-store.js';

type Alternative = Extract<ConditionMeaning, { kind: 'term' | 'parent_term' }>;

/**
 * The conditions; those with alternatives, and those on the asset of a row, are restricted to the rows that the indexes
 * of terms find, if these are few. Reading rows in their order would look at the asset of each one.
 */
export async function narrowByAlternatives(
  tx: Tx,
  table: TermTable,
  conditions: readonly Condition[],
): Promise<readonly Condition[]> {
  const narrowed: Condition[] = [];
  for (const { means } of conditions) {
    const of = means?.kind === 'any' ? means.of : means?.kind === 'parent_term' ? [means] : [];
    const found = of.length > 0 ? await rowsWithOne(tx, table, conditions, of) : undefined;
    if (found) narrowed.push(found);
  }
  return [...conditions, ...narrowed];
}

/** The rows that have one of the terms; undefined if there are too many. */
async function rowsWithOne(
  tx: Tx,
  { alias, idColumn, find }: TermTable,
  conditions: readonly Condition[],
  of: readonly Alternative[],
): Promise<Condition | undefined> {
  const tenancy = conditions.find(({ means }) => means?.kind === 'tenancy')?.means;
  if (tenancy?.kind !== 'tenancy') return undefined;
  const terms = of.map((each) => (each.kind === 'term' ? each : each.term));
  const term = 'ARRAY[t.place], ARRAY[t.name], ARRAY[t.text], NULL, true, NULL';
  const rows = await tx.query<{ ofAsset: boolean; ids: string[] | null }>(
    `SELECT t.of_asset AS "ofAsset",
        CASE WHEN t.of_asset THEN archivist.find_assets($1, ${term}) ELSE ${find}($1, ${term}) END AS ids
       FROM unnest($2::boolean[], $3::text[], $4::text[], $5::text[]) AS t(of_asset, place, name, text)`,
    [
      tenancy.tenantId,
      of.map(({ kind }) => kind === 'parent_term'),
      terms.map(({ place }) => place),
      terms.map(({ name }) => name),
      terms.map(({ text }) => text),
    ],
  );
  if (rows.some(({ ids }) => ids === null)) return undefined;
  const idsOf = (wanted: boolean) => [
    ...new Set(rows.flatMap(({ ofAsset, ids }) => (ofAsset === wanted ? (ids ?? []) : []))),
  ];
  const [own, assets] = [idsOf(false), idsOf(true)];
  const byId = condition(`${idColumn} = ANY (?::uuid[])`, own);
  const found =
    assets.length === 0 ? byId : condition(`${byId.sql} OR ${alias}.asset_id = ANY (?::uuid[])`, own, assets);
  return meaning({ kind: 'few' }, found);
}
