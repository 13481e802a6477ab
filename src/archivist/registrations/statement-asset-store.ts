import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';

/** One of a tenancy's two assets for registered statements. */
export interface StatementAssetRef {
  readonly tenantId: string;
  readonly public: boolean;
}

const STATEMENT_ASSET = table('statement_asset').columns<StatementAssetRef & { readonly assetId: string }>({
  tenantId: 'tenant_id',
  public: 'public',
  assetId: 'asset_id',
});

/** An asset for registered statements. If it is new, the caller must create it in the same transaction. */
export interface StatementAsset extends StatementAssetRef {
  readonly assetId: string;
  readonly fresh: boolean;
}

/**
 * Returns the assets under which registered statements become events, in the order of their references, which must be
 * distinct. Waits for a concurrent transaction that takes the same one.
 */
export async function takeStatementAssets(
  tx: Tx,
  refs: readonly StatementAssetRef[],
  uuid: () => string,
): Promise<StatementAsset[]> {
  const taken: StatementAsset[] = [];
  for (const ref of refs) {
    const known = await findStatementAsset(tx, ref);
    const assetId = known ?? uuid();
    const fresh = known === undefined && (await insertStatementAsset(tx, ref, assetId));
    if (known !== undefined || fresh) taken.push({ ...ref, assetId, fresh });
    else taken.push({ ...ref, assetId: (await findStatementAsset(tx, ref))!, fresh: false });
  }
  return taken;
}

async function findStatementAsset(tx: Tx, ref: StatementAssetRef): Promise<string | undefined> {
  const [row] = await tx.query<{ assetId: string }>(
    `SELECT ${selected(STATEMENT_ASSET, 's', ['assetId'])} FROM archivist.statement_asset s
      WHERE s.tenant_id = $1 AND s.public = $2`,
    [ref.tenantId, ref.public],
  );
  return row?.assetId;
}

async function insertStatementAsset(tx: Tx, ref: StatementAssetRef, assetId: string): Promise<boolean> {
  return (await insertRows(tx, STATEMENT_ASSET, [{ ...ref, assetId }], 'ON CONFLICT DO NOTHING')) === 1;
}
