import type { Tx } from '../../platform/postgres/database.js';

/** An organisation's space, the deployment's own, or the shared public one. */
export interface Tenancy {
  readonly tenantId: string;
  readonly kind: 'organisation' | 'public' | 'deployment';
  readonly displayName: string;
  readonly verifiedDomain: string;
  readonly walletAddress: string;
  readonly createdAt: Date;
}

export async function insertTenancy(tx: Tx, tenancy: Tenancy): Promise<void> {
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
