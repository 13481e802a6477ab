import type { Condition } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import type { ListTotal } from '../../platform/listing/list-page.js';
import { PORTION_BYTES, type Portion, readPortion } from '../../platform/listing/portion-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../../platform/postgres/database.js';
import { insertsOf } from '../../platform/postgres/insert-rows.js';
import { jsonRows } from '../../platform/postgres/json-rows.js';
import { rowsById } from '../../platform/postgres/rows-by-id.js';
import { countRows, listByTerms } from '../listing/term-list-store.js';
import type { Asset } from './asset.js';

const ASSET = table('asset').columns<Asset>({
  tenantId: 'tenant_id',
  assetId: 'asset_id',
  originTenantId: 'origin_tenant_id',
  newAssetEventId: 'new_asset_event_id',
  attributes: 'attributes',
  behaviours: 'behaviours',
  proofMechanism: 'proof_mechanism',
  public: 'public',
  tracked: 'tracked',
  owner: 'owner',
  creatorIssuer: 'creator_issuer',
  creatorSubject: 'creator_subject',
  createdAt: 'created_at',
});
const COLUMNS = selected(ASSET, 'a');

/** Columns that can be long. */
const LARGE = ['attributes'] as const;

const TERMS = {
  table: 'archivist.asset',
  alias: 'a',
  idColumn: 'a.asset_id',
  idMember: 'assetId',
  find: 'archivist.find_assets',
  count: 'archivist.count_assets',
} as const;

/** Inserts new assets. */
export function insertAssets(assets: readonly Asset[]): Iterable<SqlStatement> {
  return insertsOf(ASSET, assets);
}

/** The listed assets that exist and that the transaction may read, in no particular order. */
export async function findAssets(tx: Tx, wanted: readonly { tenantId: string; assetId: string }[]): Promise<Asset[]> {
  if (wanted.length === 0) return [];
  return tx.query<Asset>(`SELECT ${COLUMNS} ${rowsById('asset', 'asset_id', 'a')}`, [
    wanted.map((asset) => asset.tenantId),
    wanted.map((asset) => asset.assetId),
  ]);
}

/** The listed assets that exist, by id and after this one: all of them, or the first ones if they are large. */
export async function findAssetPortion(
  tx: Tx,
  wanted: readonly { tenantId: string; assetId: string }[],
  after: { tenantId: string; assetId: string },
): Promise<Portion<Asset>> {
  return readPortion<Asset>(tx, {
    sql: `SELECT ${COLUMNS} ${rowsById('asset', 'asset_id', 'a')} AND (a.asset_id, a.tenant_id) > ($3::uuid, $4::uuid)`,
    values: [
      wanted.map((asset) => asset.tenantId),
      wanted.map((asset) => asset.assetId),
      after.assetId,
      after.tenantId,
    ],
    large: LARGE,
    orderBy: '"assetId", "tenantId"',
  });
}

/** Lists assets up to the limit, or fewer large ones; `conditions` refer to the asset as `a`. */
export async function listAssets(
  tx: Tx,
  conditions: readonly Condition[],
  limit: number,
  order: ListOrder,
): Promise<Portion<Asset>> {
  const page = { columns: COLUMNS, large: LARGE, limit, order };
  return listByTerms<Asset>(tx, TERMS, conditions, page);
}

/** The ids of the first assets that `listAssets` lists, however large they are. */
export async function listAssetIds(
  tx: Tx,
  conditions: readonly Condition[],
  limit: number,
  order: ListOrder,
): Promise<string[]> {
  const page = { columns: selected(ASSET, 'a', ['assetId']), large: [], limit, order };
  const { rows } = await listByTerms<Asset>(tx, TERMS, conditions, page);
  return rows.map((row) => row.assetId);
}

/** Counts the assets that meet the conditions, up to `limit` if one is given. */
export function countAssets(tx: Tx, conditions: readonly Condition[], limit?: number): Promise<ListTotal> {
  return countRows(tx, TERMS, conditions, limit);
}

/** What an event changes on its asset's row. */
export interface AssetChange {
  readonly tenantId: string;
  readonly assetId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tracked?: boolean;
}

/**
 * Merges attributes key by key and sets tracking. Each asset may occur in `changes` once. Locks the rows that it
 * changes.
 */
export async function changeAssets(tx: Tx, changes: readonly AssetChange[]): Promise<void> {
  for (const { json } of jsonRows(changes))
    await tx.execute(
      `UPDATE archivist.asset a SET ${ASSET.of.attributes} = a.attributes || c.attributes,
           ${ASSET.of.tracked} = coalesce(c.tracked, a.tracked)
         FROM jsonb_to_recordset($1::jsonb) AS c("tenantId" uuid, "assetId" uuid, attributes jsonb, tracked boolean)
        WHERE a.tenant_id = c."tenantId" AND a.asset_id = c."assetId"`,
      [json],
    );
}

/** The event of an asset with the greatest id. */
interface NewestEvent {
  readonly tenantId: string;
  readonly assetId: string;
  readonly eventId: string;
  readonly acceptedAt: Date;
}

/**
 * Locks the listed assets that exist against other changes until the transaction ends, and returns their newest events as
 * of then. They are locked in one order, so that two transactions do not deadlock. The second statement sees what was
 * committed while the first one waited.
 */
export async function lockForChange(
  tx: Tx,
  assets: readonly { readonly tenantId: string; readonly assetId: string }[],
): Promise<NewestEvent[]> {
  const inOrder = assets.toSorted((left, right) => (assetKey(left) < assetKey(right) ? -1 : 1));
  const wanted = [inOrder.map((each) => each.tenantId), inOrder.map((each) => each.assetId)];
  // Ranges and orders that only one index has keep the plans right while the tables grow, as in `rowsById`.
  const locked = tx.query(
    `SELECT a.asset_id
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, id) CROSS JOIN LATERAL (
         SELECT asset_id FROM archivist.asset
          WHERE tenant_id = wanted.tenant_id AND asset_id >= wanted.id AND asset_id <= wanted.id
          ORDER BY asset_id LIMIT 1 FOR NO KEY UPDATE) AS a`,
    wanted,
  );
  const newest = tx.query<NewestEvent>(
    `SELECT wanted.tenant_id AS "tenantId", wanted.id AS "assetId", e.event_id AS "eventId", e.accepted_at AS "acceptedAt"
       FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, id) CROSS JOIN LATERAL (
         SELECT event_id, accepted_at FROM archivist.asset_event
          WHERE tenant_id = wanted.tenant_id AND asset_id >= wanted.id AND asset_id <= wanted.id
          ORDER BY asset_id DESC, event_id DESC LIMIT 1) AS e`,
    wanted,
  );
  // Even if one fails: no query may follow the end of the transaction.
  await Promise.allSettled([locked, newest]);
  await locked;
  return newest;
}

/** What an asset is found by in a map. */
export function assetKey({ tenantId, assetId }: { readonly tenantId: string; readonly assetId: string }): string {
  return `${tenantId}/${assetId}`;
}

/** A past moment of an asset. */
interface AssetMoment {
  readonly tenantId: string;
  readonly assetId: string;
  readonly until: Date;
}

/** Attributes and tracking of an asset after the events accepted until a moment. */
export interface PastState {
  readonly attributes: Record<string, unknown>;
  readonly tracked: boolean;
}

/**
 * The states at the first of these moments, in their order: of all of them, or of fewer if they are large. Each is
 * made once, with its size in bytes.
 */
export async function pastStates(
  tx: Tx,
  moments: readonly AssetMoment[],
): Promise<(PastState & { readonly bytes: number })[]> {
  if (moments.length === 0) return [];
  return tx.query(
    `WITH RECURSIVE portion AS
       (SELECT 0 AS place, NULL::jsonb AS attributes, 0 AS bytes, 0::bigint AS bytes_before
        UNION ALL
        SELECT p.place + 1, made.attributes, pg_column_size(made.attributes), p.bytes_before + p.bytes
          FROM portion p, LATERAL (SELECT archivist.attributes_at(
            ($1::uuid[])[p.place + 1], ($2::uuid[])[p.place + 1], ($3::timestamptz[])[p.place + 1]) AS attributes OFFSET 0) AS made
         WHERE p.place < cardinality($1::uuid[]) AND p.bytes_before + p.bytes < ${PORTION_BYTES})
     SELECT attributes, bytes, archivist.tracked_at(($1::uuid[])[place], ($2::uuid[])[place], ($3::timestamptz[])[place]) AS tracked
       FROM portion WHERE place > 0 ORDER BY place`,
    [moments.map((each) => each.tenantId), moments.map((each) => each.assetId), moments.map((each) => each.until)],
  );
}

/** Returns those of these assets whose proof mechanism is SIMPLE_HASH. */
export async function simpleHashAssets(tx: Tx, tenantId: string, assetIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<Asset>(
    `SELECT ${selected(ASSET, 'a', ['assetId'])} FROM archivist.asset a
      WHERE a.tenant_id = $1 AND a.asset_id = ANY ($2::uuid[]) AND a.proof_mechanism = 'SIMPLE_HASH'`,
    [tenantId, assetIds],
  );
  return new Set(rows.map((row) => row.assetId));
}
