import { decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { decodeNote } from '../../core/tlog/signed-note.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';
import { newestCosigned, plainCheckpoint, putPlainCheckpoint } from './witness-store.js';

/**
 * Says at a start whether witnesses are asked. From the start on at which they first are, nothing that they have not
 * cosigned is shown beyond `plain`, the log's own checkpoint then; and nothing older either.
 */
export function settleCheckpoint(
  database: Database,
  log: LogRef,
  { witnessed, plain }: { readonly witnessed: boolean; readonly plain: (tx: Tx) => Promise<string> },
): Promise<void> {
  return database.inTransaction('system', async (tx) => {
    if (!witnessed) await putPlainCheckpoint(tx, log, undefined);
    else if ((await plainCheckpoint(tx, log)) === undefined) await putPlainCheckpoint(tx, log, await plain(tx));
  });
}

/** With witnesses: the newest checkpoint that a quorum has cosigned, and until then the one that was shown before. */
export async function shownCheckpoint(database: Database, log: LogRef): Promise<string | undefined> {
  const read = { read: [log.tenantId], write: [] };
  return database.inTransaction(read, async (tx) => {
    const [cosigned, plain] = [await newestCosigned(tx, log), await plainCheckpoint(tx, log)];
    if (!cosigned || !plain) return cosigned?.note ?? plain;
    return cosigned.size >= decodeCheckpoint(decodeNote(plain).text).size ? cosigned.note : plain;
  });
}
