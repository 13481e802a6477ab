import { decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { decodeNote } from '../../core/tlog/signed-note.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { firstForkedState, type PublishedState } from '../checkpoint-note.js';
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
 * With witnesses: the newest checkpoint that a quorum has cosigned; until then, the last one published without them. A log that
 * was forked openly shows its first state until witnesses cosign a later one under its new name.
 */
export async function shownCheckpoint(
  database: Database,
  log: LogRef,
  signed: (state: PublishedState) => Promise<string>,
): Promise<string | undefined> {
  const read = { read: [log.tenantId], write: [] };
  return database.inTransaction(read, async (tx) => {
    const forked = await firstForkedState(tx, log);
    const ofLog = (note: string) => !forked || decodeCheckpoint(decodeNote(note).text).origin === forked.origin;
    const [newest, before] = [await newestCosigned(tx, log), await plainCheckpoint(tx, log)];
    const cosigned = newest && ofLog(newest.note) ? newest : undefined;
    const plain = before !== undefined && ofLog(before) ? before : undefined;
    if (forked && !cosigned && !plain) return signed(forked);
    if (!cosigned || !plain) return cosigned?.note ?? plain;
    return cosigned.size >= decodeCheckpoint(decodeNote(plain).text).size ? cosigned.note : plain;
  });
}
