import { createHash } from 'node:crypto';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertReturning, insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows, replacing } from '../../platform/postgres/rows-by-key.js';
import type { AccessPermission } from './access-policy.js';
import { type Names, showingOf } from './grant.js';
import type { EndedGrant, PastGrant, PastShowing } from './past-grant.js';

type GrantRow = Pick<EndedGrant, 'tenantId' | 'readerTenantId' | 'subjectId' | 'policyId' | 'permission'> & {
  readonly grantId: string;
  /** Of what it shows. */
  readonly digest: string;
};

const GRANT = table('past_grant').columns<GrantRow>({
  tenantId: 'tenant_id',
  grantId: 'grant_id',
  readerTenantId: 'reader_tenant_id',
  subjectId: 'subject_id',
  policyId: 'policy_id',
  permission: 'permission',
  digest: 'digest',
});

/** An asset that stays visible through a past grant, as it was then. */
interface ShownAsset {
  readonly tenantId: string;
  readonly assetId: string;
  readonly grantId: string;
  readonly until: Date;
}

export const SHOWN = table('past_grant_asset').columns<ShownAsset>({
  tenantId: 'tenant_id',
  assetId: 'asset_id',
  grantId: 'grant_id',
  until: 'until',
});

/** What follows the rows of an insert: of a stored row and a new one, the latest time counts. */
export const OR_LATER = `ON CONFLICT (${SHOWN.of.tenantId}, ${SHOWN.of.assetId}, ${SHOWN.of.grantId})
  DO UPDATE SET ${SHOWN.of.until} = greatest(past_grant_asset.${SHOWN.of.until}, excluded.${SHOWN.of.until})`;

/** The tenancies that still show something to this one by an ended share. */
export async function pastSharers(tx: Tx, tenantId: string): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>('SELECT s AS tenant_id FROM archivist.past_sharers($1) AS s', [
    tenantId,
  ]);
  return rows.map((row) => row.tenant_id);
}

/** What these tenancies still show to a tenancy by ended shares. The transaction must be allowed to read them. */
export async function findPastGrants(
  tx: Tx,
  tenantIds: readonly string[],
  readerTenantId: string,
): Promise<PastGrant[]> {
  const rows = await tx.query<GrantRow>(
    `SELECT ${selected(GRANT, 'g', ['tenantId', 'grantId', 'permission'])} FROM archivist.past_grant g
      WHERE g.tenant_id = ANY ($1::uuid[]) AND g.reader_tenant_id = $2`,
    [tenantIds, readerTenantId],
  );
  return rows.map(({ tenantId, grantId, permission }) => ({ ...showingOf(permission), tenantId, grantId }));
}

/** What the past grants show of each of these assets, by asset. */
export async function pastShowings(
  tx: Tx,
  grants: readonly PastGrant[],
  assets: readonly { readonly tenantId: string; readonly assetId: string }[],
): Promise<ReadonlyMap<string, PastShowing[]>> {
  const found = new Map<string, PastShowing[]>();
  if (grants.length === 0 || assets.length === 0) return found;
  const known = new Map(grants.map((grant) => [grant.grantId, grant]));
  const rows = await tx.query<ShownAsset>(
    `SELECT ${selected(SHOWN, 'k', ['assetId', 'grantId', 'until'])} FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, asset_id)
       JOIN archivist.past_grant_asset k USING (tenant_id, asset_id) WHERE k.grant_id = ANY ($3::uuid[])`,
    [assets.map((asset) => asset.tenantId), assets.map((asset) => asset.assetId), [...known.keys()]],
  );
  for (const { assetId, grantId, until } of rows) {
    const own = found.get(assetId) ?? [];
    own.push({ ...known.get(grantId)!, until });
    found.set(assetId, own);
  }
  return found;
}

/** Ids of the assets that these grants show, if there are at most `limit`. */
export async function assetsOfPastGrants(
  tx: Tx,
  tenantId: string,
  grants: readonly PastGrant[],
  limit: number,
): Promise<string[] | undefined> {
  const rows = await tx.query<{ asset_id: string }>(
    `SELECT DISTINCT asset_id FROM archivist.past_grant_asset
      WHERE tenant_id = $1 AND grant_id = ANY ($2::uuid[]) LIMIT ${limit + 1}`,
    [tenantId, grants.map((grant) => grant.grantId)],
  );
  return rows.length > limit ? undefined : rows.map((row) => row.asset_id);
}

/** An arbitrary number; the other half of the lock's name is of the tenancy. */
const SHARES_LOCK = 7_364_924;

/** The first four bytes of a tenancy's id. Two tenancies that have the same ones wait for each other. */
const lockOf = (tenantId: string) => Number.parseInt(tenantId.slice(0, 8), 16) | 0;

/**
 * Serializes what ends the shares of tenancies, until the transaction ends: a withdrawal does not see what another
 * transaction keeps at the same moment, and it would stay readable. Reads must follow this. A change of a policy or a
 * subject is `alone`; changes of assets, which end what a policy no longer matches, are `together`.
 */
export async function lockShares(tx: Tx, tenantIds: readonly string[], how: 'alone' | 'together'): Promise<void> {
  const lock = how === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  for (const tenantId of [...tenantIds].sort())
    await tx.query(`SELECT ${lock}($1::int, $2::int)`, [SHARES_LOCK, lockOf(tenantId)]);
}

/**
 * Stores the grant, unless the policy has shown the same before, and returns its id. Which assets it shows is stored
 * separately.
 * @param grantId for a new one
 */
export async function keepPastGrant(tx: Tx, ended: EndedGrant, grantId: string): Promise<string> {
  const permission = shownPart(ended.permission);
  const [stored] = await insertReturning(
    tx,
    GRANT,
    [{ ...ended, grantId, permission, digest: createHash('sha256').update(JSON.stringify(permission)).digest('hex') }],
    replacing(GRANT, ['tenantId', 'readerTenantId', 'policyId', 'subjectId', 'digest'], ['permission']),
    'grantId',
  );
  return stored!;
}

/** Keeps one asset visible through a past grant; the latest time counts. */
export async function keepPastAsset(tx: Tx, kept: ShownAsset): Promise<void> {
  await insertRows(tx, SHOWN, [kept], OR_LATER);
}

/** What a permission shows, in the same form for all that show the same. */
function shownPart(permission: AccessPermission): AccessPermission {
  const { attributesRead, kindsRead, behaviours } = showingOf(permission);
  const sorted = (names: Names) => (names === 'all' ? ['*'] : [...names].sort());
  return {
    subjects: [],
    user_attributes: [],
    include_attributes: [],
    behaviours: sorted(behaviours),
    asset_attributes_read: sorted(attributesRead),
    asset_attributes_write: [],
    event_arc_display_type_read: sorted(kindsRead),
    event_arc_display_type_write: [],
  };
}

/** Deletes the past grants of a tenancy that show no asset. */
export async function dropEmptyGrants(tx: Tx, tenantId: string): Promise<void> {
  await tx.execute(
    `DELETE FROM archivist.past_grant g WHERE g.tenant_id = $1 AND NOT EXISTS
       (SELECT FROM archivist.past_grant_asset k WHERE k.tenant_id = g.tenant_id AND k.grant_id = g.grant_id)`,
    [tenantId],
  );
}

/** The weight of a tenancy's past grants to each of these readers: 1 for each started KiB of what one shows. */
export async function heaviestPast(tx: Tx, tenantId: string, readers: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ weight: bigint }>(
    `SELECT coalesce(max(weight), 0)::bigint AS weight FROM
       (SELECT sum(ceil(octet_length(g.permission::text) / 1024.0)) AS weight FROM archivist.past_grant g
         WHERE g.tenant_id = $1 AND g.reader_tenant_id = ANY ($2::uuid[]) GROUP BY g.reader_tenant_id) AS each_reader`,
    [tenantId, readers],
  );
  return Number(row!.weight);
}

/** Ends everything that a policy's ended shares still show; true if there was something. */
export async function withdrawPastOfPolicy(
  tx: Tx,
  { tenantId, policyId }: { readonly tenantId: string; readonly policyId: string },
): Promise<boolean> {
  return (await deleteRows(tx, GRANT, ['tenantId', 'policyId'], { tenantId, policyId })) > 0;
}

/**
 * Ends everything that a tenancy's ended shares still show to these tenancies, and to those that it has shared with by
 * this subject.
 */
export async function withdrawPastOfSubject(
  tx: Tx,
  { tenantId, subjectId }: { readonly tenantId: string; readonly subjectId: string },
  readers: readonly string[],
): Promise<void> {
  await tx.execute(
    `DELETE FROM archivist.past_grant WHERE tenant_id = $1 AND (reader_tenant_id = ANY ($3::uuid[]) OR reader_tenant_id IN
       (SELECT g.reader_tenant_id FROM archivist.past_grant g WHERE g.tenant_id = $1 AND g.subject_id = $2))`,
    [tenantId, subjectId, readers],
  );
}
