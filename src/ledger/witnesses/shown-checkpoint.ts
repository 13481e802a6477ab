import { decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { decodeNote } from '../../core/tlog/signed-note.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';
import { newestCosigned, plainCheckpoint, putPlainCheckpoint } from './witness-store.js';

/**
 * Records at startup whether witnesses are configured. From the first start with witnesses, only cosigned checkpoints
 * and `plain` are published: `plain` is the log's own checkpoint at that time, and nothing older is published either.
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

/**
 * With witnesses: the newest checkpoint that a quorum has cosigned; until then, the last one published without them.
 */
export async function shownCheckpoint(database: Database, log: LogRef): Promise<string | undefined> {
  const read = { read: [log.tenantId], write: [] };
  return database.inTransaction(read, async (tx) => {
    const [cosigned, plain] = [await newestCosigned(tx, log), await plainCheckpoint(tx, log)];
    if (!cosigned || !plain) return cosigned?.note ?? plain;
    return cosigned.size >= decodeCheckpoint(decodeNote(plain).text).size ? cosigned.note : plain;
  });
}
