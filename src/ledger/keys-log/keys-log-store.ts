import type { Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';

/** Whether an entry of a log is covered by its newest published seal. */
export async function isEntryPublished(tx: Tx, log: LogRef, entryId: string): Promise<boolean> {
  const [row] = await tx.query<{ published: boolean }>(
    `SELECT l.leaf_index < s.leaves AS published
       FROM archivist.leaf l
       JOIN archivist.log g ON g.tenant_id = l.tenant_id AND g.log_id = l.log_id
       JOIN archivist.seal s ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.published_number
      WHERE l.tenant_id = $1 AND l.log_id = $2 AND l.entry_id = $3`,
    [log.tenantId, log.logId, entryId],
  );
  return row?.published === true;
}
