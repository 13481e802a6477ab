import { table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { rowsById } from '../../platform/postgres/rows-by-id.js';
import { deleteRows, replacing, updateRows } from '../../platform/postgres/rows-by-key.js';

/** A webhook tells changed compliance, and there is a policy whose verdicts can change. */
const IS_WATCHED = (tenant: string) =>
  `EXISTS (SELECT 1 FROM archivist.webhook w WHERE w.tenant_id = ${tenant} AND 'compliance.changed' = ANY (w.event_types))
   AND EXISTS (SELECT 1 FROM archivist.compliance_policy p WHERE p.tenant_id = ${tenant})`;

const WATCH = table('compliance_watch').columns<{ readonly tenantId: string; readonly cursor: bigint }>({
  tenantId: 'tenant_id',
  cursor: 'cursor',
});

/** Up to which asset a policy's first verdicts are stored. */
interface Scan {
  readonly tenantId: string;
  readonly policyId: string;
  readonly afterAsset: string;
  readonly done: boolean;
}

const SCAN = table('compliance_scan').columns<Scan>({
  tenantId: 'tenant_id',
  policyId: 'policy_id',
  afterAsset: 'after_asset',
  done: 'done',
});

/** Enabled tenancies whose compliance somebody is told. */
export async function watchedTenancies(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>(
    `SELECT DISTINCT h.tenant_id FROM archivist.webhook h
       JOIN archivist.tenancy t ON t.tenant_id = h.tenant_id AND t.disabled_at IS NULL
      WHERE 'compliance.changed' = ANY (h.event_types) AND ${IS_WATCHED('h.tenant_id')}`,
  );
  return rows.map(({ tenant_id: tenantId }) => tenantId);
}

/** Tenancies whose compliance nobody is told any more. */
export async function endedWatches(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>(
    `SELECT c.tenant_id FROM archivist.compliance_watch c WHERE NOT (${IS_WATCHED('c.tenant_id')})`,
  );
  return rows.map(({ tenant_id: tenantId }) => tenantId);
}

/** Begins to watch a tenancy after a position of its log, unless it is watched already. */
export async function beginWatch(tx: Tx, tenantId: string, cursor: bigint): Promise<void> {
  await insertRows(tx, WATCH, [{ tenantId, cursor }], 'ON CONFLICT DO NOTHING');
}

/**
 * Locks the watch of a tenancy and returns up to where its log has been evaluated; undefined if there is no watch.
 * `taken` if another process has locked it.
 */
export async function lockWatch(tx: Tx, tenantId: string): Promise<bigint | 'taken' | undefined> {
  const [row] = await tx.query<{ cursor: bigint }>(
    'SELECT cursor FROM archivist.compliance_watch WHERE tenant_id = $1 FOR UPDATE SKIP LOCKED',
    [tenantId],
  );
  if (row) return row.cursor;
  const [other] = await tx.query('SELECT 1 FROM archivist.compliance_watch WHERE tenant_id = $1', [tenantId]);
  return other ? 'taken' : undefined;
}

export async function moveWatch(tx: Tx, tenantId: string, cursor: bigint): Promise<void> {
  await updateRows(tx, WATCH, ['tenantId'], ['cursor'], { tenantId, cursor });
}

export async function deleteWatch(tx: Tx, tenantId: string): Promise<void> {
  await deleteRows(tx, WATCH, ['tenantId'], { tenantId });
}

/** Policies some of whose first verdicts are missing, with the asset that was last looked at. */
export async function unfinishedScans(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ policyId: string; afterAsset: string }>(
    `SELECT p.policy_id AS "policyId",
            coalesce(s.after_asset, '00000000-0000-0000-0000-000000000000') AS "afterAsset"
       FROM archivist.compliance_policy p
       LEFT JOIN archivist.compliance_scan s ON s.tenant_id = p.tenant_id AND s.policy_id = p.policy_id
      WHERE p.tenant_id = $1 AND s.done IS NOT TRUE ORDER BY p.policy_id`,
    [tenantId],
  );
  return new Map(rows.map(({ policyId, afterAsset }) => [policyId, afterAsset]));
}

export async function storeScan(tx: Tx, tenantId: string, scan: Omit<Scan, 'tenantId'>): Promise<void> {
  await insertRows(
    tx,
    SCAN,
    [{ ...scan, tenantId }],
    replacing(SCAN, ['tenantId', 'policyId'], ['afterAsset', 'done']),
  );
}

/** Forgets which first verdicts have been stored. */
export async function deleteScans(tx: Tx, tenantId: string): Promise<void> {
  await deleteRows(tx, SCAN, ['tenantId'], { tenantId });
}

/** Ids of assets in the order of their ids. */
export async function assetIdsAfter(tx: Tx, tenantId: string, after: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ asset_id: string }>(
    'SELECT asset_id FROM archivist.asset WHERE tenant_id = $1 AND asset_id > $2 ORDER BY asset_id LIMIT $3',
    [tenantId, after, limit],
  );
  return rows.map(({ asset_id: assetId }) => assetId);
}

/** The assets of these events, with the time of the first event of each in Unix milliseconds. */
export async function assetsOfEvents(
  tx: Tx,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.query<{ asset_id: string; accepted_at: Date }>(
    `SELECT e.asset_id, e.accepted_at ${rowsById('asset_event', 'event_id', 'e')}`,
    [eventIds.map(() => tenantId), eventIds],
  );
  const first = new Map<string, number>();
  for (const { asset_id: assetId, accepted_at: at } of rows)
    first.set(assetId, Math.min(first.get(assetId) ?? Number.POSITIVE_INFINITY, at.getTime()));
  return first;
}
