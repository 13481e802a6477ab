import { type BoundValues, boundValues } from '../../filter/bound-values.js';
import { has, isEmpty, type Showing } from '../../iam/access/grant.js';
import type { Access } from '../../iam/access/read-access.js';
import { type Condition, condition, meaning, written } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import { narrowedAssets } from '../assets/asset-narrowing-store.js';
import { listAssetIds } from '../assets/asset-store.js';
import { pastReachSql, seesAll, visibleAssets } from '../assets/asset-visibility-store.js';
import { reachedAssetsSql } from '../assets/policy-reach-store.js';
import type { ReadableAttributes } from '../listing/attribute-condition.js';

/** The asset `a` of the event `e`, and a condition on it. */
export const ITS_ASSET =
  'EXISTS (SELECT FROM archivist.asset a WHERE a.tenant_id = e.tenant_id AND a.asset_id = e.asset_id AND';

/** The kind of the event `e`, which policies name. */
const ITS_KIND = "e.event_attributes -> 'arc_display_type'";

/** The events of a tenancy that a list may show: `AssetView.readsEvent` in SQL, with the event as `e`. */
export function visibleAssetEvents(access: Access, tenantId: string): Condition[] {
  const own = assetEventsOf(tenantId);
  if (seesAll(access, tenantId)) return own;
  const bound = boundValues(() => '?');
  const recorded = recordedSql(access, tenantId, bound);
  const reads = (grant: Showing) => !isEmpty(grant.kindsRead);
  const reached = reachedAssetsSql(access, tenantId, reads, bound, ITS_KIND);
  const past = pastReachSql(access, tenantId, reads, bound, 'e', ITS_KIND);
  return [...own, written(`${recorded} OR ${ITS_ASSET} ${reached}) OR ${past}`, bound)];
}

/** With more visible assets than this, a scan in list order fills a page soon. */
const FEW_ASSETS = 500;

/**
 * Returns a wider condition that indexes can answer if few events are visible: those that the principal recorded, and
 * those of the few assets that it sees. Otherwise returns no condition.
 */
export async function narrowedAssetEvents(tx: Tx, access: Access, tenantId: string): Promise<Condition[]> {
  if (seesAll(access, tenantId)) return [];
  const narrowed = await narrowedAssets(tx, access, tenantId);
  if (narrowed.length === 0) return [];
  const recorded = access.principal.tenantId === tenantId ? await recordedEvents(tx, access) : [];
  if (recorded === undefined) return [];
  const ids = await listAssetIds(tx, [...visibleAssets(access, tenantId), ...narrowed], FEW_ASSETS + 1, 'newest');
  if (ids.length > FEW_ASSETS) return [];
  const theirs = condition('e.asset_id = ANY (?::uuid[]) OR e.event_id = ANY (?::uuid[])', ids, recorded);
  return [meaning({ kind: 'indexed' }, theirs)];
}

/** Ids of the events that the principal recorded, if the index of terms finds few of them. */
async function recordedEvents(tx: Tx, { principal }: Access): Promise<string[] | undefined> {
  const [row] = await tx.query<{ ids: string[] | null }>(
    `SELECT archivist.find_asset_events($1, ARRAY['principal_accepted'], ARRAY['subject'], ARRAY[$2::text], NULL, true,
       NULL) AS ids`,
    [principal.tenantId, principal.subject],
  );
  return row?.ids ?? undefined;
}

/** All events of a tenancy. */
export function assetEventsOf(tenantId: string): Condition[] {
  return [meaning({ kind: 'tenancy', tenantId }, condition('e.tenant_id = ?', tenantId))];
}

/** The changes to assets that this access may filter by: a key that it may not read is null. */
export function readableChanges(access: Access, tenantId: string): ReadableAttributes {
  if (seesAll(access, tenantId)) return { column: 'e.asset_attributes' };
  const column = (key: string, bound: BoundValues) => {
    const recorded = recordedSql(access, tenantId, bound);
    const reading = (grant: Showing) => has(grant.attributesRead, key);
    const reached = reachedAssetsSql(access, tenantId, reading, bound);
    const past = pastReachSql(access, tenantId, reading, bound, 'e');
    return `CASE WHEN ${recorded} OR ${ITS_ASSET} ${reached}) OR ${past} THEN e.asset_attributes END`;
  };
  return { column };
}

function recordedSql({ principal }: Access, tenantId: string, bound: BoundValues): string {
  if (principal.tenantId !== tenantId) return 'false';
  const issuer = bound.bindText(principal.issuer);
  const subject = bound.bindText(principal.subject);
  return `(e.principal_accepted ->> 'issuer' = ${issuer} AND e.principal_accepted ->> 'subject' = ${subject})`;
}
