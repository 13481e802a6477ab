import type { Tx } from '../../platform/postgres/database.js';

/**
 * Lets the rest of the transaction also read these tenancies; write access stays the same (docs/design/README.md#data).
 * Call it only with tenancies that are mutually confirmed with the caller's.
 */
export async function readAlso(tx: Tx, tenantIds: readonly string[]): Promise<void> {
  await tx.query(
    `SELECT set_config('archivist.readable', (archivist.readable_tenancies() || $1::uuid[])::text, true)`,
    [tenantIds],
  );
}
