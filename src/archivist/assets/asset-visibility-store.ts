import type { AttributeFilter } from '../../filter/attribute-filter.js';
import { type BoundValues, boundValues } from '../../filter/bound-values.js';
import { writeAttributeFilter } from '../../filter/filter-sql.js';
import { type Grant, has, type Showing, shows } from '../../iam/access/grant.js';
import type { Access } from '../../iam/access/open-access.js';
import { isOwner } from '../../iam/access/owner-and-creator.js';
import { assetsOfPastGrants } from '../../iam/access/past-grant-store.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { ReadableAttributes } from '../listing/attribute-condition.js';

/** Attribute columns of an asset that have an index. Longer texts than this many bytes are not indexed. */
export const INDEXED_ATTRIBUTES = { subject: 'a.subject', arc_display_type: 'a.display_type' } as const;
const INDEXED_BYTES = 1024;
/** With more assets of ended shares than this, a scan in list order fills a page soon. */
const FEW_PAST_ASSETS = 500;

/** True when a list may show everything of that tenancy. */
export function seesAll({ principal }: Access, tenantId: string): boolean {
  return principal.tenantId === tenantId && isOwner(principal);
}

/** The assets of a tenancy that a list may show: `AssetView.visible` in SQL, with the asset as `a`. */
export function visibleAssets(access: Access, tenantId: string): Condition[] {
  const own = meaning({ kind: 'tenancy', tenantId }, condition('a.tenant_id = ?', tenantId));
  if (seesAll(access, tenantId)) return [own];
  const bound = boundValues(() => '?');
  const visible = `${reachedAssetsSql(access, tenantId, shows, bound)} OR ${pastReachSql(access, tenantId, shows, bound)}`;
  return [own, condition(visible, ...bound.values)];
}

/**
 * The attributes of the asset `a` that this access may filter by: the current value, or the one of an ended share. A
 * key that it may not read is null, so that a filter cannot tell it from a missing key.
 */
export function readableAttributes(access: Access, tenantId: string): ReadableAttributes {
  if (seesAll(access, tenantId)) return { column: 'a.attributes' };
  const column = (key: string, bound: BoundValues) => {
    const reading = (grant: Showing) => has(grant.attributesRead, key);
    const reads = reachedAssetsSql(access, tenantId, reading, bound);
    const until = pastUntilSql(access, tenantId, reading, bound);
    const past = until && ` ELSE archivist.attributes_at(a.tenant_id, a.asset_id, ${until})`;
    return `CASE WHEN ${reads} THEN a.attributes${past ?? ''} END`;
  };
  return { column, ...(access.past.some((grant) => grant.tenantId === tenantId) && { past: true }) };
}

/**
 * Whether the asset `a` is tracked, as far as this access may know: now, or as of the end of the share. Undefined if it
 * is the current value for every asset of the list.
 */
export function readableTracking(access: Access, tenantId: string): Condition | undefined {
  const bound = boundValues(() => '?');
  const reads = reachedAssetsSql(access, tenantId, shows, bound);
  const until = pastUntilSql(access, tenantId, shows, bound);
  if (seesAll(access, tenantId) || until === undefined) return undefined;
  const tracked = `CASE WHEN ${reads} THEN a.tracked ELSE archivist.tracked_at(a.tenant_id, a.asset_id, ${until}) END`;
  return condition(tracked, ...bound.values);
}

/**
 * True where one of the given past grants shows the asset of this row; never null.
 * @param row the table whose `tenant_id` and `asset_id` name the asset
 * @param also a further condition on each grant, with the stored asset as `k`
 */
export function pastReachSql(
  { past }: Access,
  tenantId: string,
  wanted: (grant: Showing) => boolean,
  bound: BoundValues,
  row: 'a' | 'e' = 'a',
  also: (grant: Showing, bound: BoundValues) => string = () => 'true',
): string {
  const parts = past
    .filter((grant) => grant.tenantId === tenantId && wanted(grant))
    .map(
      (grant) =>
        `EXISTS (SELECT FROM archivist.past_grant_asset k WHERE k.tenant_id = ${row}.tenant_id
          AND k.asset_id = ${row}.asset_id AND k.grant_id = ${bound.bindText(grant.grantId)}::uuid AND ${also(grant, bound)})`,
    );
  return parts.length === 0 ? 'false' : `(${parts.join(' OR ')})`;
}

/** The last instant at which one of the given past grants showed the asset `a`, or null; undefined without grants. */
function pastUntilSql(
  { past }: Access,
  tenantId: string,
  wanted: (grant: Showing) => boolean,
  bound: BoundValues,
): string | undefined {
  const grants = past.filter((grant) => grant.tenantId === tenantId && wanted(grant));
  if (grants.length === 0) return undefined;
  const ids = grants.map((grant) => `${bound.bindText(grant.grantId)}::uuid`);
  return `(SELECT max(k.until) FROM archivist.past_grant_asset k
    WHERE k.tenant_id = a.tenant_id AND k.asset_id = a.asset_id AND k.grant_id IN (${ids.join(', ')}))`;
}

/**
 * True for assets that the principal created and for those that one of the given grants reaches; never null.
 * @param also a further condition on each grant
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
  const given = [...byFilter(grants.filter((grant) => grant.tenantId === tenantId && wanted(grant)))].map(
    ([filter, each]) => {
      const further = each.map((grant) => also(grant, bound));
      const any = further.every((text) => text === 'true') ? 'true' : `(${further.join(' OR ')})`;
      return `${any} AND ${policyReachSql(filter, bound)}`;
    },
  );
  const parts = [...created, ...given];
  return parts.length === 0 ? 'false' : `(${parts.map((part) => `(${part})`).join(' OR ')})`;
}

/** The permissions of a policy share its filter, which is long: it is written once for all of them. */
function byFilter(grants: readonly Grant[]): ReadonlyMap<AttributeFilter, readonly Grant[]> {
  const found = new Map<AttributeFilter, Grant[]>();
  for (const grant of grants) {
    const same = found.get(grant.filter);
    if (same) same.push(grant);
    else found.set(grant.filter, [grant]);
  }
  return found;
}

/** True for the assets `a` that the filters of a policy match; never null. Policies never match public assets. */
export function policyReachSql(filter: AttributeFilter, bound: BoundValues): string {
  const target = { column: 'a.attributes', indexed: isShort(filter) ? INDEXED_ATTRIBUTES : {} };
  return `NOT a.public AND ${writeAttributeFilter(filter, target, bound)}`;
}

/**
 * Returns a wider condition that an index can answer, if every part of `visibleAssets` tests a text that is indexed.
 * Under row-level security only leakproof operators can use an index.
 * Returns no condition when a part matches too many assets: then a scan in list order fills a page soon.
 */
export async function narrowedAssets(tx: Tx, access: Access, tenantId: string): Promise<Condition[]> {
  const { principal, grants } = access;
  if (seesAll(access, tenantId)) return [];
  const parts = principal.tenantId === tenantId ? [condition('a.creator_subject = ?', principal.subject)] : [];
  for (const filter of byFilter(grants.filter((each) => each.tenantId === tenantId && shows(each))).keys()) {
    const part = await assetsFound(tx, tenantId, filter);
    if (part === undefined) return [];
    parts.push(part);
  }
  const past = access.past.filter((each) => each.tenantId === tenantId && shows(each));
  if (past.length > 0) {
    const ids = await assetsOfPastGrants(tx, tenantId, past, FEW_PAST_ASSETS);
    if (ids === undefined) return [];
    parts.push(condition('a.asset_id = ANY (?::uuid[])', ids));
  }
  if (parts.length === 0) return [];
  const sql = parts.map((part) => part.sql).join(' OR ');
  return [meaning({ kind: 'indexed' }, condition(sql, ...parts.flatMap((part) => part.values)))];
}

/** A wider condition than the filters of a policy that an index can answer; undefined if too many assets meet it. */
export async function assetsFound(tx: Tx, tenantId: string, filter: AttributeFilter): Promise<Condition | undefined> {
  const found = hotPart(filter) ?? (await foundByTerms(tx, tenantId, filter));
  return found && meaning({ kind: 'indexed' }, found);
}

/**
 * The first list of alternatives that tests only texts of attributes with an index of their own; undefined without one.
 */
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

/** The assets that have every text that the filter requires, if the index of terms finds few of them. */
async function foundByTerms(tx: Tx, tenantId: string, filter: AttributeFilter): Promise<Condition | undefined> {
  const texts = filter.flatMap((alternatives) => (alternatives.length === 1 ? (textsOf(alternatives) ?? []) : []));
  if (texts.length === 0) return undefined;
  const [row] = await tx.query<{ ids: string[] | null }>(
    'SELECT archivist.find_assets($1, $2::text[], $3::text[], $4::text[], NULL, true, NULL) AS ids',
    [tenantId, texts.map(() => 'attributes'), texts.map(({ name }) => name), texts.map(({ value }) => value)],
  );
  return row?.ids ? condition('a.asset_id = ANY (?::uuid[])', row.ids) : undefined;
}

/** The top-level texts that these alternatives test; undefined when one of them tests something else. */
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
