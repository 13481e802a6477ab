import { boundValues } from '../../filter/bound-values.js';
import type { EndedGrant } from '../../iam/access/past-grant.js';
import { OR_LATER, SHOWN } from '../../iam/access/past-grant-store.js';
import { condition, renderWhere, written } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertInto } from '../../platform/postgres/insert-rows.js';
import { policyReachSql } from './policy-reach-store.js';

/**
 * Keeps every asset visible through the past grant on which the grant ends: those that its policy matches now, apart
 * from its exceptions. The latest time counts. One statement, so that it sees one state of all assets.
 */
export async function keepPastAssets(tx: Tx, ended: EndedGrant, grantId: string, until: Date): Promise<void> {
  const bound = boundValues(() => '?');
  const lost = policyReachSql(ended.filter, bound);
  const still = ended.except ? ` AND NOT (${policyReachSql(ended.except, bound)})` : '';
  const where = renderWhere([condition('a.tenant_id = ?', ended.tenantId), written(lost + still, bound)], 2);
  await tx.execute(
    `${insertInto(SHOWN)}
     SELECT a.tenant_id, a.asset_id, $1::uuid, greatest($2::timestamptz, a.created_at)
       FROM archivist.asset a WHERE ${where.sql}
     ${OR_LATER}`,
    [grantId, until, ...where.values],
  );
}

/** Ends at this time whatever past grants show of these assets after it. */
export async function endPastAssets(
  tx: Tx,
  assets: readonly { readonly tenantId: string; readonly assetId: string }[],
  until: Date,
): Promise<void> {
  // Nearly always no row is found. The ORDER BY keeps the plan right while the table grows, as in `rowsById`.
  const later = await tx.query<{ tenant_id: string; asset_id: string }>(
    `SELECT DISTINCT k.tenant_id, k.asset_id
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, id) CROSS JOIN LATERAL (
         SELECT * FROM archivist.past_grant_asset
          WHERE tenant_id = wanted.tenant_id AND asset_id >= wanted.id AND asset_id <= wanted.id ORDER BY asset_id) AS k
      WHERE k.asset_id = wanted.id AND k.until > $3`,
    [assets.map((each) => each.tenantId), assets.map((each) => each.assetId), until],
  );
  for (const { tenant_id: tenantId, asset_id: assetId } of later)
    await tx.execute(
      `UPDATE archivist.past_grant_asset k SET ${SHOWN.of.until} = greatest($3::timestamptz, a.created_at)
         FROM archivist.asset a WHERE k.tenant_id = $1 AND k.asset_id = $2 AND k.until > $3
          AND a.tenant_id = k.tenant_id AND a.asset_id = k.asset_id`,
      [tenantId, assetId, until],
    );
}

/** The current attributes of these assets, which stay locked; public assets are left out. */
export async function lockAttributes(
  tx: Tx,
  assets: readonly { readonly tenantId: string; readonly assetId: string }[],
): Promise<{ tenantId: string; assetId: string; attributes: Record<string, unknown>; createdAt: Date }[]> {
  return tx.query(
    `SELECT a.tenant_id AS "tenantId", a.asset_id AS "assetId", a.attributes, a.created_at AS "createdAt"
       FROM archivist.asset a
      WHERE (a.tenant_id, a.asset_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) AND NOT a.public
      ORDER BY a.tenant_id, a.asset_id FOR UPDATE`,
    [assets.map((each) => each.tenantId), assets.map((each) => each.assetId)],
  );
}
