import { type BoundValues, boundValues } from '../../filter/bound-values.js';
import { jsonText } from '../../filter/filter-sql.js';
import { has, type Showing, shows } from '../../iam/access/grant.js';
import { isOwner } from '../../iam/access/owner-and-creator.js';
import type { PastGrant } from '../../iam/access/past-grant.js';
import type { Access } from '../../iam/access/read-access.js';
import { type Condition, condition, meaning, written } from '../../platform/listing/condition.js';
import type { ReadableAttributes } from '../listing/attribute-condition.js';
import { reachedAssetsSql } from './policy-reach-store.js';

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
  return [own, written(visible, bound)];
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
  return written(tracked, bound);
}

/**
 * True where one of the given past grants shows the asset of this row; never null. Of an event `e`, only one that was
 * accepted until then.
 * @param row the table whose `tenant_id` and `asset_id` name the asset
 * @param kind the kind of the event, as jsonb: then the grants must show events of this kind
 */
export function pastReachSql(
  { past }: Access,
  tenantId: string,
  wanted: (grant: Showing) => boolean,
  bound: BoundValues,
  row: 'a' | 'e' = 'a',
  kind?: string,
): string {
  const grants = past.filter((grant) => grant.tenantId === tenantId && wanted(grant));
  if (grants.length === 0) return 'false';
  const inTime = row === 'e' ? 'e.accepted_at <= k.until AND ' : '';
  return `EXISTS (SELECT FROM archivist.past_grant_asset k WHERE k.tenant_id = ${row}.tenant_id
    AND k.asset_id = ${row}.asset_id AND ${inTime}${amongSql(grants, bound, kind)})`;
}

/** True where the grant of the stored asset `k` is one of these, for the kind of event if one is given. */
function amongSql(grants: readonly PastGrant[], bound: BoundValues, kind: string | undefined): string {
  const whole = grants.filter(({ kindsRead }) => kind === undefined || kindsRead === 'all');
  const limited = grants.flatMap(({ grantId, kindsRead }) =>
    kind === undefined || kindsRead === 'all' ? [] : [...kindsRead].map((each) => ({ grantId, kind: jsonText(each) })),
  );
  const ids = (of: readonly { readonly grantId: string }[]) =>
    bound.bindAs(
      of.map(({ grantId }) => grantId),
      'uuid[]',
    );
  const among = `k.grant_id = ANY (${ids(whole)})`;
  if (limited.length === 0) return among;
  const [filters, kinds] = [
    ids(limited),
    bound.bindAs(
      limited.map((each) => each.kind),
      'jsonb[]',
    ),
  ];
  return `(${among} OR coalesce((k.grant_id, ${kind}) IN (SELECT * FROM unnest(${filters}, ${kinds})), false))`;
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
  return `(SELECT max(k.until) FROM archivist.past_grant_asset k
    WHERE k.tenant_id = a.tenant_id AND k.asset_id = a.asset_id AND ${amongSql(grants, bound, undefined)})`;
}
