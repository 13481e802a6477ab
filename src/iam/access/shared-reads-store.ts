import type { Tx } from '../../platform/postgres/database.js';

/**
 * Lets the rest of the transaction read these tenancies too; what it may write stays (docs/design/README.md#data). Called with tenancies
 * that are mutually confirmed with the caller's, and with no others.
 */
export async function readAlso(tx: Tx, tenantIds: readonly string[]): Promise<void> {
  await tx.query(
    `SELECT set_config('archivist.readable', (archivist.readable_tenancies() || $1::uuid[])::text, true)`,
    [tenantIds],
  );
}
