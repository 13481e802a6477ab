import type { AttributeFilter } from '../../filter/attribute-filter.js';
import type { BoundValues } from '../../filter/bound-values.js';
import { jsonText, writeAttributeFilter } from '../../filter/filter-sql.js';
import { type Grant, type Names, union } from '../../iam/access/grant.js';
import type { Access } from '../../iam/access/read-access.js';
import { policyTerms, termsReachSql } from './policy-terms-store.js';

/** Attribute columns of an asset that have an index. Longer texts than this many bytes are not indexed. */
export const INDEXED_ATTRIBUTES = { subject: 'a.subject', arc_display_type: 'a.display_type' } as const;
const INDEXED_BYTES = 1024;

/**
 * True for assets that the principal created and for those that one of the given grants reaches; never null.
 * @param kind the kind of an event, as jsonb: then the grants must show events of this kind
 */
export function reachedAssetsSql(
  { principal, grants }: Access,
  tenantId: string,
  wanted: (grant: Grant) => boolean,
  bound: BoundValues,
  kind?: string,
): string {
  const created =
    principal.tenantId === tenantId
      ? [
          `a.creator_issuer = ${bound.bindText(principal.issuer)} AND a.creator_subject = ${bound.bindText(principal.subject)}`,
        ]
      : [];
  const given = byFilter(grants.filter((grant) => grant.tenantId === tenantId && wanted(grant)));
  const shown = new Map<AttributeFilter, Names>(
    [...given].map(([filter, each]) => [filter, kind ? union(each.map(({ kindsRead }) => kindsRead)) : 'all']),
  );
  const terms = policyTerms(grants, tenantId);
  const byTerms = new Map([...shown].filter(([filter]) => terms?.places.has(filter)));
  const others = new Map([...shown].filter(([filter]) => !byTerms.has(filter)));
  const parts = [
    ...created,
    ...byKinds(others).map(
      ({ kinds, filters }) => `${kindSql(kinds, kind, bound)} AND ${policiesReachSql(filters, bound)}`,
    ),
    ...(terms && byTerms.size > 0 ? [termsReachSql(terms, byTerms, bound, kind)] : []),
  ];
  return parts.length === 0 ? 'false' : `(${parts.map((part) => `(${part})`).join(' OR ')})`;
}

/** The permissions of a policy share its filter, which is long: it is written once for all of them. */
export function byFilter(grants: readonly Grant[]): ReadonlyMap<AttributeFilter, readonly Grant[]> {
  const found = new Map<AttributeFilter, Grant[]>();
  for (const grant of grants) {
    const same = found.get(grant.filter);
    if (same) same.push(grant);
    else found.set(grant.filter, [grant]);
  }
  return found;
}

/** True where the kind of an event is one of these; never null. */
function kindSql(kinds: Names, kind: string | undefined, bound: BoundValues): string {
  if (kinds === 'all' || kind === undefined) return 'true';
  return `coalesce(${kind} = ANY (${bound.bindAs([...kinds].map(jsonText), 'jsonb[]')}), false)`;
}

/** The filters through which the same kinds of events are shown. */
function byKinds(
  shown: ReadonlyMap<AttributeFilter, Names>,
): readonly { readonly kinds: Names; readonly filters: readonly AttributeFilter[] }[] {
  const found = new Map<string, { kinds: Names; filters: AttributeFilter[] }>();
  for (const [filter, kinds] of shown) {
    const name = kinds === 'all' ? kinds : JSON.stringify([...kinds].sort());
    const same = found.get(name);
    if (same) same.filters.push(filter);
    else found.set(name, { kinds, filters: [filter] });
  }
  return [...found.values()];
}

/** True for the assets `a` that the filters of a policy match; never null. Policies never match public assets. */
export function policyReachSql(filter: AttributeFilter, bound: BoundValues): string {
  return policiesReachSql([filter], bound);
}

/** True for the assets `a` that one of these filters matches; never null. */
function policiesReachSql(filters: readonly AttributeFilter[], bound: BoundValues): string {
  const parts = merged(filters).map((filter) => {
    const target = { column: 'a.attributes', indexed: isShort(filter) ? INDEXED_ATTRIBUTES : {} };
    return writeAttributeFilter(filter, target, bound);
  });
  return `NOT a.public AND (${parts.map((part) => `(${part})`).join(' OR ')})`;
}

/** Of filters with one list each, an asset has to meet any entry of any list: they are one filter. */
function merged(filters: readonly AttributeFilter[]): AttributeFilter[] {
  const single = filters.filter((filter) => filter.length === 1);
  const lists = [single.filter(isShort), single.filter((filter) => !isShort(filter))].filter((each) => each.length > 0);
  return [...lists.map((each) => [each.flat(2)]), ...filters.filter((filter) => filter.length !== 1)];
}

/** True if its texts are short enough for an index. */
export function isShort(filter: AttributeFilter): boolean {
  return filter.every((alternatives) =>
    alternatives.every((test) => test.kind !== 'equals' || Buffer.byteLength(test.value) <= INDEXED_BYTES),
  );
}
