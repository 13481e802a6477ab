import { concatBytes } from '../core/bytes.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import type { Tx } from '../platform/postgres/database.js';
import type { Frontier } from './frontier.js';
import { AS_LEFT, asLeft } from './log-store.js';
import { bigintArray, openPageStart, WANTED_NODES } from './node-page-store.js';

/**
 * Whether a log is as this process left it, with the same seal and the same nodes on which its next batch builds. Resolves
 * with the database's clock.
 */
export async function isFrontier(
  tx: Tx,
  { log, seal, peaks, openPage }: Frontier,
  holder: string,
): Promise<{ databaseMs: number } | undefined> {
  const onOpenPage = openPage.map((_, place) => openPageStart(log.size) + BigInt(place));
  const [row] = await tx.query<{ database_time: Date }>(
    `SELECT clock_timestamp() AS database_time
       FROM archivist.log JOIN archivist.seal USING (tenant_id, log_id, seal_number)
      WHERE ${AS_LEFT} AND seal.signed = $8
        AND (SELECT ${WANTED_NODES} FROM unnest($9::bigint[]) WITH ORDINALITY AS wanted(index, place)) = $10`,
    [
      ...asLeft(log, holder),
      seal?.signed,
      bigintArray([...peakIndices(log.size), ...onOpenPage]),
      concatBytes(...peaks, ...openPage),
    ],
  );
  return row && { databaseMs: row.database_time.getTime() };
}
