import { concatBytes } from '../core/bytes.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { Tx } from '../platform/postgres/database.js';
import type { Frontier } from './frontier.js';
import { AS_LEFT, asLeft } from './log-store.js';
import { bigintArray, pageOf, WANTED_NODES } from './node-page-store.js';

/**
 * Whether a log is as this process left it, with the same seal and the same nodes on which its next batch builds. Resolves
 * with the database's clock.
 */
export async function isFrontier(
  tx: Tx,
  { log, seal, peaks, openPage }: Frontier,
  holder: string,
): Promise<{ databaseMs: number } | undefined> {
  const [row] = await tx.query<{ database_time: Date }>(
    // Only the index of numbers has this order (`findSeal`), and the log has no later seal.
    `SELECT clock_timestamp() AS database_time FROM archivist.log
      WHERE ${AS_LEFT}
        AND (SELECT signed FROM archivist.seal
              WHERE tenant_id = $1 AND log_id = $2 AND seal_number >= $5 ORDER BY seal_number LIMIT 1) = $8
        AND (SELECT ${WANTED_NODES} FROM unnest($9::bigint[]) WITH ORDINALITY AS wanted(index, place)) = $10
        AND ($12 = ''::bytea OR (SELECT nodes FROM archivist.node_page
              WHERE tenant_id = $1 AND log_id = $2 AND page = $11) = $12)`,
    [
      ...asLeft(log, holder),
      seal?.signed,
      bigintArray(peakIndices(log.size)),
      concatBytes(...peaks),
      pageOf(log.size),
      concatBytes(...openPage),
    ],
  );
  return row && { databaseMs: row.database_time.getTime() };
}
