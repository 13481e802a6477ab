import type { AttributeFilter } from '../../filter/attribute-filter.js';
import type { BoundValues } from '../../filter/bound-values.js';
import { EMPTY_VALUES, jsonText } from '../../filter/filter-sql.js';
import type { Grant, Names } from '../../iam/access/grant.js';

/** So many tests are soon made one by one for each asset; of more, those are looked up that an asset can meet. */
const FEW_TESTS = 64;

/** The filters of a tenancy's policies, found by what an asset has. */
interface PolicyTerms {
  /** The place of each filter, from 1. */
  readonly places: ReadonlyMap<AttributeFilter, number>;
  /** JSON: by term, the places of the filters in whose first list it is. */
  readonly index: string;
  /** JSON: the terms of the further lists of each filter. */
  readonly further: string;
}

const known = new WeakMap<readonly Grant[], Map<string, PolicyTerms | undefined>>();

/**
 * The filters that ask only whether attributes at the top level have some text, or any value, if these are many; made
 * once for the grants of a caller.
 */
export function policyTerms(grants: readonly Grant[], tenantId: string): PolicyTerms | undefined {
  const made = known.get(grants) ?? new Map<string, PolicyTerms | undefined>();
  known.set(grants, made);
  if (!made.has(tenantId)) made.set(tenantId, termsOf(grants.filter((grant) => grant.tenantId === tenantId)));
  return made.get(tenantId);
}

function termsOf(grants: readonly Grant[]): PolicyTerms | undefined {
  const filters = [...new Set(grants.map(({ filter }) => filter))].filter(asksForTerms);
  const lists = filters.map((filter) => filter.map((tests) => tests.map(termOf)));
  const asked = new Map<string, number>();
  for (const term of lists.flat(2)) asked.set(term, (asked.get(term) ?? 0) + 1);
  if (lists.flat(2).length <= FEW_TESTS) return undefined;
  const often = (terms: readonly string[]) => terms.reduce((sum, term) => sum + asked.get(term)!, 0);
  // First the list that the fewest other filters ask for, too: so an asset is compared with few filters.
  const sorted = lists.map((each) => each.toSorted((one, other) => often(one) - often(other)));
  const index = new Map<string, number[]>();
  for (const [place, [first]] of sorted.entries())
    for (const term of first!) index.set(term, [...(index.get(term) ?? []), place + 1]);
  return {
    places: new Map(filters.map((filter, place) => [filter, place + 1])),
    index: JSON.stringify(Object.fromEntries(index)),
    further: JSON.stringify(sorted.map(([, ...more]) => more)),
  };
}

function asksForTerms(filter: AttributeFilter): boolean {
  return filter.length > 0 && filter.flat().every((test) => !test.negated && !test.name.includes('.'));
}

/** As `ITS_TERMS`; the length tells where the name ends. */
function termOf(test: AttributeFilter[number][number]): string {
  if (test.kind === 'filled') return `*${test.name}`;
  return `=${Buffer.byteLength(test.name)}:${test.name}${test.value}`;
}

/** The terms of the asset `a`: each text, and each attribute that is filled. */
const ITS_TERMS = `ARRAY(SELECT '=' || octet_length(had.key) || ':' || had.key || (had.value #>> '{}')
    FROM jsonb_each(a.attributes) AS had WHERE jsonb_typeof(had.value) = 'string'
  UNION ALL SELECT '*' || had.key FROM jsonb_each(a.attributes) AS had WHERE had.value NOT IN ${EMPTY_VALUES})`;

/**
 * True for the assets `a` that one of the wanted filters matches; never null. The database looks up what an asset has,
 * so further filters do not make it slower.
 * @param wanted filters of `terms`, with the kinds of events for which each counts
 * @param kind the kind of an event, as jsonb; without one, each filter counts
 */
export function termsReachSql(
  terms: PolicyTerms,
  wanted: ReadonlyMap<AttributeFilter, Names>,
  bound: BoundValues,
  kind?: string,
): string {
  return `NOT a.public AND EXISTS (SELECT FROM (SELECT ${ITS_TERMS} AS terms OFFSET 0) AS its,
    LATERAL unnest(its.terms) AS had(term),
    LATERAL jsonb_array_elements(${bound.bindAs(terms.index, 'jsonb')} -> had.term) AS met(filter)
    WHERE ${countsSql(terms, wanted, bound, kind)} AND NOT EXISTS (SELECT FROM
      jsonb_array_elements(${bound.bindAs(terms.further, 'jsonb')} -> (met.filter::integer - 1)) AS list(terms)
      WHERE NOT jsonb_exists_any(list.terms, its.terms)))`;
}

/** True where the filter of `met` counts, for the kind of event if one is given. */
function countsSql(
  terms: PolicyTerms,
  wanted: ReadonlyMap<AttributeFilter, Names>,
  bound: BoundValues,
  kind: string | undefined,
): string {
  const always = [...terms.places.keys()].map((filter) => wanted.get(filter) === 'all');
  const whole = `(${bound.bindAs(always, 'boolean[]')})[met.filter::integer]`;
  const limited = [...wanted].flatMap(([filter, kinds]) =>
    kinds === 'all' ? [] : [...kinds].map((each) => ({ place: terms.places.get(filter)!, kind: jsonText(each) })),
  );
  if (limited.length === 0) return whole;
  const filters = bound.bindAs(
    limited.map(({ place }) => place),
    'integer[]',
  );
  const kinds = bound.bindAs(
    limited.map((each) => each.kind),
    'jsonb[]',
  );
  return `(${whole} OR (met.filter::integer, ${kind}) IN (SELECT * FROM unnest(${filters}, ${kinds})))`;
}
