import { type Condition, renderWhere } from '../../platform/listing/condition.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { changeRow, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';

/** An organisation's space, the deployment's own, or the shared public one. */
export interface Tenancy {
  readonly tenantId: string;
  readonly kind: 'organisation' | 'public' | 'deployment';
  readonly displayName: string;
  readonly verifiedDomain: string;
  readonly walletAddress: string;
  readonly createdAt: Date;
  /** When it was disabled; since then its tokens are refused. */
  readonly disabledAt: Date | null;
}

const TENANCY = table('tenancy').columns<Tenancy>({
  tenantId: 'tenant_id',
  kind: 'kind',
  displayName: 'display_name',
  verifiedDomain: 'verified_domain',
  walletAddress: 'wallet_address',
  createdAt: 'created_at',
  disabledAt: 'disabled_at',
});
const COLUMNS = selected(TENANCY, 't');

export async function insertTenancy(tx: Tx, tenancy: Omit<Tenancy, 'disabledAt'>): Promise<void> {
  await insertRows(tx, TENANCY, [{ ...tenancy, disabledAt: null }]);
}

/** Wallet addresses of the named tenancies, as far as the transaction may read them. */
export async function walletAddresses(tx: Tx, tenantIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<Tenancy>(
    `SELECT ${selected(TENANCY, 't', ['tenantId', 'walletAddress'])} FROM archivist.tenancy t
      WHERE t.tenant_id = ANY ($1::uuid[])`,
    [tenantIds],
  );
  return new Map(rows.map((row) => [row.tenantId, row.walletAddress]));
}

export function findTenancy(tx: Tx, tenantId: string): Promise<Tenancy | undefined> {
  return findRow(tx, TENANCY, ['tenantId'], { tenantId });
}

/** Renames the tenancy and returns the changed tenancy. */
export function renameTenancy(tx: Tx, tenantId: string, displayName: string): Promise<Tenancy | undefined> {
  return changeRow(tx, TENANCY, ['tenantId'], ['displayName'], { tenantId, displayName });
}

/** In the order of their creation. `conditions` refer to the tenancy as `t`. */
export async function listTenancyRows(tx: Tx, conditions: readonly Condition[], limit: number): Promise<Tenancy[]> {
  const where = renderWhere(conditions);
  return tx.query<Tenancy>(
    `SELECT ${COLUMNS} FROM archivist.tenancy t WHERE ${where.sql} ORDER BY t.tenant_id LIMIT ${limit}`,
    where.values,
  );
}

/** UUIDs of the organisations that the transaction may read, including disabled ones. */
export async function listOrganisationIds(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>(
    `SELECT tenant_id FROM archivist.tenancy WHERE kind = 'organisation' ORDER BY tenant_id`,
  );
  return rows.map((row) => row.tenant_id);
}

/** UUIDs of the disabled tenancies that the transaction may read. */
export async function listDisabledTenancies(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>(
    'SELECT tenant_id FROM archivist.tenancy WHERE disabled_at IS NOT NULL',
  );
  return rows.map((row) => row.tenant_id);
}

/** @param since undefined enables the tenancy again */
export async function setDisabled(tx: Tx, tenantId: string, since: Date | undefined): Promise<void> {
  await updateRows(tx, TENANCY, ['tenantId'], ['disabledAt'], { tenantId, disabledAt: since ?? null });
}

export async function setVerifiedDomain(tx: Tx, tenantId: string, verifiedDomain: string): Promise<void> {
  await updateRows(tx, TENANCY, ['tenantId'], ['verifiedDomain'], { tenantId, verifiedDomain });
}
