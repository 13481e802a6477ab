import { type Condition, renderWhere } from '../../platform/listing/condition.js';
import type { Tx } from '../../platform/postgres/database.js';

/** An organisation's space, the deployment's own, or the shared public one. */
export interface Tenancy {
  readonly tenantId: string;
  readonly kind: 'organisation' | 'public' | 'deployment';
  readonly displayName: string;
  readonly verifiedDomain: string;
  readonly walletAddress: string;
  readonly createdAt: Date;
  /** When it was disabled; since then its tokens are refused. */
  readonly disabledAt: Date | undefined;
}

export async function insertTenancy(tx: Tx, tenancy: Omit<Tenancy, 'disabledAt'>): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.tenancy (tenant_id, kind, display_name, verified_domain, wallet_address, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      tenancy.tenantId,
      tenancy.kind,
      tenancy.displayName,
      tenancy.verifiedDomain,
      tenancy.walletAddress,
      tenancy.createdAt,
    ],
  );
}

/** Wallet addresses of the named tenancies, as far as the transaction may read them. */
export async function walletAddresses(tx: Tx, tenantIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ tenant_id: string; wallet_address: string }>(
    'SELECT tenant_id, wallet_address FROM archivist.tenancy WHERE tenant_id = ANY ($1::uuid[])',
    [tenantIds],
  );
  return new Map(rows.map((row) => [row.tenant_id, row.wallet_address]));
}

interface TenancyRow {
  tenant_id: string;
  kind: Tenancy['kind'];
  display_name: string;
  verified_domain: string;
  wallet_address: string;
  created_at: Date;
  disabled_at: Date | null;
}

const COLUMNS = 't.tenant_id, t.kind, t.display_name, t.verified_domain, t.wallet_address, t.created_at, t.disabled_at';

export async function findTenancy(tx: Tx, tenantId: string): Promise<Tenancy | undefined> {
  const [row] = await tx.query<TenancyRow>(`SELECT ${COLUMNS} FROM archivist.tenancy t WHERE t.tenant_id = $1`, [
    tenantId,
  ]);
  return row && tenancyOf(row);
}

/** Renames the tenancy and returns it as it is afterwards. */
export async function renameTenancy(tx: Tx, tenantId: string, displayName: string): Promise<Tenancy | undefined> {
  const [row] = await tx.query<TenancyRow>(
    `UPDATE archivist.tenancy t SET display_name = $2 WHERE t.tenant_id = $1 RETURNING ${COLUMNS}`,
    [tenantId, displayName],
  );
  return row && tenancyOf(row);
}

/** In the order of their creation. `conditions` refer to the tenancy as `t`. */
export async function listTenancyRows(tx: Tx, conditions: readonly Condition[], limit: number): Promise<Tenancy[]> {
  const where = renderWhere(conditions);
  const rows = await tx.query<TenancyRow>(
    `SELECT ${COLUMNS} FROM archivist.tenancy t WHERE ${where.sql} ORDER BY t.tenant_id LIMIT ${limit}`,
    where.values,
  );
  return rows.map(tenancyOf);
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
  await tx.execute('UPDATE archivist.tenancy SET disabled_at = $2 WHERE tenant_id = $1', [tenantId, since ?? null]);
}

export async function setVerifiedDomain(tx: Tx, tenantId: string, domain: string): Promise<void> {
  await tx.execute('UPDATE archivist.tenancy SET verified_domain = $2 WHERE tenant_id = $1', [tenantId, domain]);
}

function tenancyOf(row: TenancyRow): Tenancy {
  return {
    tenantId: row.tenant_id,
    kind: row.kind,
    displayName: row.display_name,
    verifiedDomain: row.verified_domain,
    walletAddress: row.wallet_address,
    createdAt: row.created_at,
    disabledAt: row.disabled_at ?? undefined,
  };
}
