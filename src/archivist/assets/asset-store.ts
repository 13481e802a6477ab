import { type Condition, renderWhere } from '../../platform/listing/condition.js';
import type { ListOrder } from '../../platform/listing/list-order.js';
import { countByTerms, narrowByTerms, pageOfFirstRows } from '../../platform/listing/term-search-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset, ProofMechanism } from './asset.js';

interface AssetRow {
  tenant_id: string;
  asset_id: string;
  origin_tenant_id: string;
  new_asset_event_id: string;
  attributes: Record<string, unknown>;
  behaviours: string[];
  proof_mechanism: ProofMechanism;
  public: boolean;
  tracked: boolean;
  owner: string;
  creator_issuer: string;
  creator_subject: string;
  created_at: Date;
}

const COLUMNS = `a.tenant_id, a.asset_id, a.origin_tenant_id, a.new_asset_event_id, a.attributes, a.behaviours,
  a.proof_mechanism, a.public, a.tracked, a.owner, a.creator_issuer, a.creator_subject, a.created_at`;

const TERMS = {
  table: 'archivist.asset',
  alias: 'a',
  idColumn: 'a.asset_id',
  find: 'archivist.find_assets',
  count: 'archivist.count_assets',
} as const;

/** Inserts new assets in one statement. */
export async function insertAssets(tx: Tx, assets: readonly Asset[]): Promise<void> {
  if (assets.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.asset (tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes, behaviours,
       proof_mechanism, public, tracked, owner, creator_issuer, creator_subject, created_at)
     SELECT t, a, o, e, attributes::jsonb, ARRAY(SELECT jsonb_array_elements_text(behaviours::jsonb)), p, pub, true, owner,
            issuer, subject, created
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::boolean[],
                   $9::text[], $10::text[], $11::text[], $12::timestamptz[])
         AS n(t, a, o, e, attributes, behaviours, p, pub, owner, issuer, subject, created)`,
    [
      assets.map((asset) => asset.tenantId),
      assets.map((asset) => asset.assetId),
      assets.map((asset) => asset.originTenantId),
      assets.map((asset) => asset.newAssetEventId),
      assets.map((asset) => JSON.stringify(asset.attributes)),
      assets.map((asset) => JSON.stringify(asset.behaviours)),
      assets.map((asset) => asset.proofMechanism),
      assets.map((asset) => asset.public),
      assets.map((asset) => asset.owner),
      assets.map((asset) => asset.creatorIssuer),
      assets.map((asset) => asset.creatorSubject),
      assets.map((asset) => asset.createdAt),
    ],
  );
}

/** The listed assets that exist and that the transaction may read, in no particular order. */
export async function findAssets(tx: Tx, wanted: readonly { tenantId: string; assetId: string }[]): Promise<Asset[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query<AssetRow>(
    `SELECT ${COLUMNS} FROM unnest($1::uuid[], $2::uuid[]) AS wanted(tenant_id, asset_id)
       JOIN archivist.asset a USING (tenant_id, asset_id)`,
    [wanted.map((asset) => asset.tenantId), wanted.map((asset) => asset.assetId)],
  );
  return rows.map(assetOf);
}

/** Lists assets; `conditions` refer to the asset as `a`. */
export async function listAssets(
  tx: Tx,
  conditions: readonly Condition[],
  limit: number,
  order: ListOrder,
): Promise<Asset[]> {
  const first = await pageOfFirstRows<AssetRow>(tx, TERMS, conditions, { columns: COLUMNS, limit, order });
  if (first) return first.map(assetOf);
  const where = renderWhere(await narrowByTerms(tx, TERMS, conditions, { limit, order }));
  const rows = await tx.query<AssetRow>(
    `SELECT ${COLUMNS} FROM archivist.asset a WHERE ${where.sql} ORDER BY a.asset_id ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ${limit}`,
    where.values,
  );
  return rows.map(assetOf);
}

/** Counts the assets that meet the conditions, up to `limit` if one is given. */
export async function countAssets(tx: Tx, conditions: readonly Condition[], limit?: number): Promise<number> {
  const counted = await countByTerms(tx, TERMS, conditions, limit);
  if (counted !== undefined) return counted;
  const where = renderWhere(await narrowByTerms(tx, TERMS, conditions));
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM
       (SELECT 1 FROM archivist.asset a WHERE ${where.sql} ${limit === undefined ? '' : `LIMIT ${limit}`}) AS counted`,
    where.values,
  );
  return Number(row?.total ?? 0);
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
  if (changes.length === 0) return;
  await tx.execute(
    `UPDATE archivist.asset a SET attributes = a.attributes || c.attributes::jsonb, tracked = coalesce(c.tracked, a.tracked)
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[]) AS c(tenant_id, asset_id, attributes, tracked)
      WHERE a.tenant_id = c.tenant_id AND a.asset_id = c.asset_id`,
    [
      changes.map((change) => change.tenantId),
      changes.map((change) => change.assetId),
      changes.map((change) => JSON.stringify(change.attributes)),
      changes.map((change) => change.tracked ?? null),
    ],
  );
}

/** Attributes and tracking after the events accepted until then, by `<asset> <milliseconds>`. */
export async function assetsAt(
  tx: Tx,
  wanted: readonly { readonly tenantId: string; readonly assetId: string; readonly until: Date }[],
): Promise<ReadonlyMap<string, { attributes: Record<string, unknown>; tracked: boolean }>> {
  if (wanted.length === 0) return new Map();
  const rows = await tx.query<{ attributes: Record<string, unknown>; tracked: boolean }>(
    `SELECT archivist.attributes_at(t, a, u) AS attributes, archivist.tracked_at(t, a, u) AS tracked
       FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) WITH ORDINALITY AS w(t, a, u, place) ORDER BY place`,
    [wanted.map((each) => each.tenantId), wanted.map((each) => each.assetId), wanted.map((each) => each.until)],
  );
  return new Map(rows.map((row, place) => [`${wanted[place]!.assetId} ${wanted[place]!.until.getTime()}`, row]));
}

function assetOf(row: AssetRow): Asset {
  return {
    tenantId: row.tenant_id,
    assetId: row.asset_id,
    originTenantId: row.origin_tenant_id,
    newAssetEventId: row.new_asset_event_id,
    attributes: row.attributes,
    behaviours: row.behaviours,
    proofMechanism: row.proof_mechanism,
    public: row.public,
    tracked: row.tracked,
    owner: row.owner,
    creatorIssuer: row.creator_issuer,
    creatorSubject: row.creator_subject,
    createdAt: row.created_at,
  };
}

/** Returns those of these assets whose proof mechanism is SIMPLE_HASH. */
export async function simpleHashAssets(tx: Tx, tenantId: string, assetIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ asset_id: string }>(
    `SELECT asset_id FROM archivist.asset
      WHERE tenant_id = $1 AND asset_id = ANY ($2::uuid[]) AND proof_mechanism = 'SIMPLE_HASH'`,
    [tenantId, assetIds],
  );
  return new Set(rows.map((row) => row.asset_id));
}
