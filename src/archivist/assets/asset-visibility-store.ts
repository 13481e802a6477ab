import type { AttributeFilter } from '../../filter/attribute-filter.js';
import { type BoundValues, boundValues } from '../../filter/bound-values.js';
import { writeAttributeFilter } from '../../filter/filter-sql.js';
import { type Grant, has, shows } from '../../iam/access/grant.js';
import type { Access } from '../../iam/access/open-access.js';
import { isOwner } from '../../iam/access/owner-and-creator.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';

/** Columns of an asset's attributes that have an index. Texts beyond so many bytes are not in them. */
export const INDEXED_ATTRIBUTES = { subject: 'a.subject', arc_display_type: 'a.display_type' } as const;
const INDEXED_BYTES = 1024;

/** True when a list may show everything of that tenancy. */
export function seesAll({ principal }: Access, tenantId: string): boolean {
  return principal.tenantId === tenantId && isOwner(principal);
}

/** Which assets of a tenancy a list may show: `AssetView.visible` in SQL, of the asset as `a`. */
export function visibleAssets(access: Access, tenantId: string): Condition[] {
  const own = meaning({ kind: 'tenancy', tenantId }, condition('a.tenant_id = ?', tenantId));
  if (seesAll(access, tenantId)) return [own];
  const bound = boundValues(() => '?');
  const visible = reachedAssetsSql(access, tenantId, shows, bound);
  return [own, condition(visible, ...bound.values)];
}

/**
 * The attributes of the asset `a` as they count in a filter: null for a key that this access does not read, so that a
 * filter cannot tell it from one that is not there.
 */
export function readableAttributes(
  access: Access,
  tenantId: string,
): string | ((key: string, bound: BoundValues) => string) {
  if (seesAll(access, tenantId)) return 'a.attributes';
  return (key, bound) => {
    const reads = reachedAssetsSql(access, tenantId, (grant) => has(grant.attributesRead, key), bound);
    return `CASE WHEN ${reads} THEN a.attributes END`;
  };
}

/**
 * True for assets that the principal created and for those that one of the wanted grants reaches; never null.
 * @param also what else must hold for a grant
 */
export function reachedAssetsSql(
  { principal, grants }: Access,
  tenantId: string,
  wanted: (grant: Grant) => boolean,
  bound: BoundValues,
  also: (grant: Grant, bound: BoundValues) => string = () => 'true',
): string {
  const created =
    principal.tenantId === tenantId
      ? [
          `a.creator_issuer = ${bound.bindText(principal.issuer)} AND a.creator_subject = ${bound.bindText(principal.subject)}`,
        ]
      : [];
  const given = grants
    .filter((grant) => grant.tenantId === tenantId && wanted(grant))
    .map((grant) => `${also(grant, bound)} AND ${policyReachSql(grant.filter, bound)}`);
  const parts = [...created, ...given];
  return parts.length === 0 ? 'false' : `(${parts.map((part) => `(${part})`).join(' OR ')})`;
}

/** True for the assets `a` that the filters of a policy match; never null. Policies match no public asset. */
export function policyReachSql(filter: AttributeFilter, bound: BoundValues): string {
  const target = { column: 'a.attributes', indexed: isShort(filter) ? INDEXED_ATTRIBUTES : {} };
  return `NOT a.public AND ${writeAttributeFilter(filter, target, bound)}`;
}

/**
 * A coarser condition that indexes can answer, where each part of `visibleAssets` has a text that an index knows: only
 * operators that cannot leak a row use an index under row-level security. None where a part matches too many assets: then
 * rows read in their order soon make a page.
 */
export async function narrowedAssets(tx: Tx, access: Access, tenantId: string): Promise<Condition[]> {
  const { principal, grants } = access;
  if (seesAll(access, tenantId)) return [];
  const parts = principal.tenantId === tenantId ? [condition('a.creator_subject = ?', principal.subject)] : [];
  for (const grant of grants.filter((each) => each.tenantId === tenantId && shows(each))) {
    const part = hotPart(grant.filter) ?? (await foundByTerms(tx, tenantId, grant.filter));
    if (part === undefined) return [];
    parts.push(part);
  }
  if (parts.length === 0) return [];
  const sql = parts.map((part) => part.sql).join(' OR ');
  return [condition(sql, ...parts.flatMap((part) => part.values))];
}

/** Alternatives that are all texts of attributes with an index of their own. */
function hotPart(filter: AttributeFilter): Condition | undefined {
  const member = filter
    .map(textsOf)
    .find((texts) => texts?.every(({ name }) => Object.hasOwn(INDEXED_ATTRIBUTES, name)));
  return (
    member &&
    condition(
      member.map(({ name }) => `${INDEXED_ATTRIBUTES[name as keyof typeof INDEXED_ATTRIBUTES]} = ?`).join(' OR '),
      ...member.map(({ value }) => value),
    )
  );
}

/** The assets that have every text of which the filter leaves no choice, when the index of terms finds few. */
async function foundByTerms(tx: Tx, tenantId: string, filter: AttributeFilter): Promise<Condition | undefined> {
  const texts = filter.flatMap((alternatives) => (alternatives.length === 1 ? (textsOf(alternatives) ?? []) : []));
  if (texts.length === 0) return undefined;
  const [row] = await tx.query<{ ids: string[] | null }>(
    'SELECT archivist.find_assets($1, $2::text[], $3::text[], $4::text[], NULL, true, NULL) AS ids',
    [tenantId, texts.map(() => 'attributes'), texts.map(({ name }) => name), texts.map(({ value }) => value)],
  );
  return row?.ids ? condition('a.asset_id = ANY (?::uuid[])', row.ids) : undefined;
}

/** The texts that these alternatives ask for at the top level; undefined when one asks for something else. */
function textsOf(alternatives: AttributeFilter[number]): { name: string; value: string }[] | undefined {
  const texts: { name: string; value: string }[] = [];
  for (const test of alternatives) {
    if (test.kind !== 'equals' || test.negated || test.name.includes('.') || !isShort([[test]])) return undefined;
    texts.push({ name: test.name, value: test.value });
  }
  return texts;
}

function isShort(filter: AttributeFilter): boolean {
  return filter.every((alternatives) =>
    alternatives.every((test) => test.kind !== 'equals' || Buffer.byteLength(test.value) <= INDEXED_BYTES),
  );
}
