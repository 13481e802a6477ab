import type { Tx } from '../../platform/postgres/database.js';

/** Lets changes of who owns a tenancy come one after the other, until the transaction ends. */
export async function lockOwners(tx: Tx, tenantId: string): Promise<void> {
  await tx.query('SELECT 1 FROM archivist.tenancy WHERE tenant_id = $1 FOR NO KEY UPDATE', [tenantId]);
}
