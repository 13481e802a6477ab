import type { AttributeFilter } from '../../filter/attribute-filter.js';
import { shows } from '../../iam/access/grant.js';
import { assetsOfPastGrants } from '../../iam/access/past-grant-store.js';
import type { Access } from '../../iam/access/read-access.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import { seesAll } from './asset-visibility-store.js';
import { byFilter, INDEXED_ATTRIBUTES, isShort } from './policy-reach-store.js';

/** With more assets of ended shares than this, a scan in list order fills a page soon. */
const FEW_PAST_ASSETS = 500;
/** Filters for which the index of terms is searched, so many in a statement. */
const MOST_SEARCHED = 256;
const SEARCHED_AT_ONCE = 16;

/**
 * Returns a wider condition that an index can answer, if every part of `visibleAssets` tests a text that is indexed.
 * Under row-level security only leakproof operators can use an index.
 * Returns no condition when a part matches too many assets: then a scan in list order fills a page soon.
 */
export async function narrowedAssets(tx: Tx, access: Access, tenantId: string): Promise<Condition[]> {
  const { principal, grants } = access;
  if (seesAll(access, tenantId)) return [];
  const own = principal.tenantId === tenantId ? [condition('a.creator_subject = ?', principal.subject)] : [];
  const filters = [...byFilter(grants.filter((each) => each.tenantId === tenantId && shows(each))).keys()];
  const given = await assetsOfFilters(tx, tenantId, filters);
  if (given === undefined) return [];
  const parts = [...own, ...given];
  const past = access.past.filter((each) => each.tenantId === tenantId && shows(each));
  if (past.length > 0) {
    const ids = await assetsOfPastGrants(tx, tenantId, past, FEW_PAST_ASSETS);
    if (ids === undefined) return [];
    parts.push(condition('a.asset_id = ANY (?::uuid[])', ids));
  }
  if (parts.length === 0) return [];
  const sql = parts.map((part) => part.sql).join(' OR ');
  return [meaning({ kind: 'indexed' }, { sql, values: parts.flatMap((part) => part.values) })];
}

/** What an index finds for each of these filters; undefined if too many assets meet one of them. */
async function assetsOfFilters(
  tx: Tx,
  tenantId: string,
  filters: readonly AttributeFilter[],
): Promise<Condition[] | undefined> {
  const hot = filters.map(hotTexts);
  const others = filters.filter((_filter, place) => !hot[place]).map(requiredTexts);
  if (others.length > MOST_SEARCHED || others.some((texts) => texts.length === 0)) return undefined;
  const ids = new Set<string>();
  for (let begin = 0; begin < others.length; begin += SEARCHED_AT_ONCE)
    for (const found of await findByTerms(tx, tenantId, others.slice(begin, begin + SEARCHED_AT_ONCE))) {
      if (!found) return undefined;
      for (const id of found) ids.add(id);
    }
  const columns = hotColumns(hot.flatMap((texts) => texts ?? []));
  return others.length === 0 ? columns : [...columns, condition('a.asset_id = ANY (?::uuid[])', [...ids])];
}

/** A wider condition than the filters of a policy that an index can answer; undefined if too many assets meet it. */
export async function assetsFound(tx: Tx, tenantId: string, filter: AttributeFilter): Promise<Condition | undefined> {
  const found = await assetsOfFilters(tx, tenantId, [filter]);
  if (!found) return undefined;
  const sql = found.map((part) => part.sql).join(' OR ');
  return meaning({ kind: 'indexed' }, { sql, values: found.flatMap((part) => part.values) });
}

/**
 * The first list of alternatives that tests only texts of attributes with an index of their own; undefined without one.
 */
function hotTexts(filter: AttributeFilter): readonly AttributeText[] | undefined {
  return filter.map(textsOf).find((texts) => texts?.every(({ name }) => Object.hasOwn(INDEXED_ATTRIBUTES, name)));
}

function hotColumns(texts: readonly AttributeText[]): Condition[] {
  return Object.entries(INDEXED_ATTRIBUTES).flatMap(([name, column]) => {
    const values = [...new Set(texts.filter((text) => text.name === name).map(({ value }) => value))];
    return values.length === 0 ? [] : [condition(`${column} = ANY (?::text[])`, values)];
  });
}

/** The texts that an asset must have to meet the filter. */
function requiredTexts(filter: AttributeFilter): AttributeText[] {
  return filter.flatMap((alternatives) => (alternatives.length === 1 ? (textsOf(alternatives) ?? []) : []));
}

/** For each of these lists, the assets that have all its texts; null where the index of terms finds many. */
async function findByTerms(
  tx: Tx,
  tenantId: string,
  wanted: readonly (readonly AttributeText[])[],
): Promise<(string[] | null)[]> {
  const searched = wanted.map((texts) => ({
    places: texts.map(() => 'attributes'),
    names: texts.map(({ name }) => name),
    texts: texts.map(({ value }) => value),
  }));
  const rows = await tx.query<{ ids: string[] | null }>(
    `SELECT archivist.find_assets($1, w.places, w.names, w.texts, NULL, true, NULL) AS ids
       FROM jsonb_to_recordset($2::jsonb) AS w(places text[], names text[], texts text[])`,
    [tenantId, JSON.stringify(searched)],
  );
  return rows.map(({ ids }) => ids);
}

interface AttributeText {
  readonly name: string;
  readonly value: string;
}

/** The top-level texts that these alternatives test; undefined when one of them tests something else. */
function textsOf(alternatives: AttributeFilter[number]): AttributeText[] | undefined {
  const texts: AttributeText[] = [];
  for (const test of alternatives) {
    if (test.kind !== 'equals' || test.negated || test.name.includes('.') || !isShort([[test]])) return undefined;
    texts.push({ name: test.name, value: test.value });
  }
  return texts;
}
