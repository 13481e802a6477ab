import type { Tx } from '../../platform/postgres/database.js';

/** The key of an asset. */
export interface AssetKey {
  readonly tenantId: string;
  readonly assetId: string;
}

/** An asset that its events contradict. */
interface ContradictedAsset {
  readonly tenantId: string;
  readonly what: string;
}

/**
 * Some of the assets that have events and no row, and of the rows that contradict the event that created the asset. The
 * interface finds an event through its asset's row, so such a row can hide events. Each table is read once, whatever
 * statistics there are: a full join is a hash or a merge.
 *
 * Two events that start and stop the tracking of one asset at the same time may be applied in another order than that of
 * their ids. So `tracked` is compared only if the asset has events of at most one of the two kinds.
 */
export async function contradictedAssets(tx: Tx, publicTenancy: string, limit: number): Promise<ContradictedAsset[]> {
  return tx.query<ContradictedAsset>(
    `SELECT f.tenant_id AS "tenantId", f.what FROM (
       SELECT coalesce(a.tenant_id, e.tenant_id) AS tenant_id, CASE
           WHEN a.owner IS NULL THEN format('asset %s has events (%s) and no row, so they are hidden', e.asset_id, e.events)
           WHEN made.event_id IS NULL THEN format('asset %s has no event that created it', a.asset_id)
           WHEN a.public AND shown.event_id IS NULL THEN format('asset %s is public, and its events have no public form', a.asset_id)
           WHEN NOT a.public AND shown.event_id IS NOT NULL
             THEN format('asset %s is not public, and its events have a public form', a.asset_id)
           WHEN NOT a.tracked AND e.stopped IS NOT TRUE THEN format('asset %s is not tracked, and no event says so', a.asset_id)
           WHEN a.tracked AND e.stopped AND NOT e.started THEN format('asset %s is tracked, and its events say the opposite', a.asset_id)
           WHEN (a.proof_mechanism = 'SIMPLE_HASH') <> (hashed.event_id IS NOT NULL)
             THEN format('asset %s has another proof mechanism than its events', a.asset_id)
           WHEN a.origin_tenant_id <> made.origin_tenant_id OR a.owner <> made.from_address OR a.created_at <> made.accepted_at
             OR a.creator_issuer <> made.principal_accepted ->> 'issuer' OR a.creator_subject <> made.principal_accepted ->> 'subject'
             THEN format('asset %s has another creator or time than the event that created it', a.asset_id)
         END AS what
         FROM archivist.asset a
         FULL JOIN (SELECT tenant_id, asset_id, count(*) AS events, bool_or(operation = 'StartTracking') AS started,
                           bool_or(operation = 'StopTracking') AS stopped
                      FROM archivist.asset_event GROUP BY tenant_id, asset_id) e
           ON e.tenant_id = a.tenant_id AND e.asset_id = a.asset_id
         LEFT JOIN archivist.asset_event made
           ON made.tenant_id = a.tenant_id AND made.event_id = a.new_asset_event_id AND made.asset_id = a.asset_id
          AND made.operation = 'NewAsset'
         LEFT JOIN archivist.asset_event shown ON shown.tenant_id = $1 AND shown.event_id = a.new_asset_event_id
         LEFT JOIN archivist.simple_hash_event hashed
           ON hashed.tenant_id = a.tenant_id AND hashed.event_id = a.new_asset_event_id) f
      WHERE f.what IS NOT NULL LIMIT $2`,
    [publicTenancy, limit],
  );
}

/** With more events than this, an asset's attributes are not compared: one statement could not read them in its time. */
const MOST_COMPARED_EVENTS = 10_000;

/** Nobody waits for longer than this until an accepted event is stored; it is many times the time limits of a request. */
const APPLIED_WITHIN = "interval '10 minutes'";

/**
 * The next assets in the order of their keys, after the given one; fewer than the limit at the end only. An asset differs
 * if it has an attribute with a value that no event gave it, or only one that is older than the newest one, or lacks one that
 * an event gave it. Which of several values of ten minutes is the newest is not compared: events that were accepted at the
 * same time may be applied in another order than that of their ids.
 */
export function assetsWithAttributes(
  tx: Tx,
  { tenantId, assetId }: AssetKey,
  limit: number,
): Promise<(AssetKey & { readonly differs: boolean })[]> {
  const ofAsset = 'e.tenant_id = a.tenant_id AND e.asset_id = a.asset_id';
  return tx.query(
    `SELECT a.tenant_id AS "tenantId", a.asset_id AS "assetId",
            NOT EXISTS (SELECT FROM archivist.asset_event e WHERE ${ofAsset} OFFSET ${MOST_COMPARED_EVENTS})
            AND (EXISTS (SELECT key, value FROM jsonb_each(a.attributes)
                         EXCEPT SELECT given.key, given.value
                           FROM (SELECT c.key, c.value, e.accepted_at, max(e.accepted_at) OVER (PARTITION BY c.key) AS newest
                                   FROM archivist.asset_event e, jsonb_each(e.asset_attributes) c WHERE ${ofAsset}) given
                          WHERE given.accepted_at >= given.newest - ${APPLIED_WITHIN})
                 OR EXISTS (SELECT FROM archivist.asset_event e, jsonb_object_keys(e.asset_attributes) given
                             WHERE ${ofAsset} AND NOT a.attributes ? given)) AS differs
       FROM archivist.asset a
      WHERE (a.tenant_id, a.asset_id) > ($1, $2)
      ORDER BY a.tenant_id, a.asset_id LIMIT $3`,
    [tenantId, assetId, limit],
  );
}
