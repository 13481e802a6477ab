import { decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { decodeNote, type NoteKey, signaturesBy } from '../../core/tlog/signed-note.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { checkpointNote, firstForkedState, type PublishedState, publishedState } from '../checkpoint-note.js';
import type { LogRef } from '../log.js';
import { insertCosigned, newestCosigned, plainCheckpoint, putPlainCheckpoint } from './witness-store.js';

/** How a process publishes the checkpoint of a log that witnesses may cosign. */
interface Publishing {
  /** The process was given witnesses. */
  readonly witnessed: boolean;
  /** The log's own checkpoint, as it is published now. */
  readonly plain: (tx: Tx) => Promise<string>;
  /** The log's own checkpoint of a state. */
  readonly signed: (state: PublishedState) => Promise<string>;
}

/** The checkpoints that the log signs itself. */
export function ownCheckpoints(keyring: Pick<Keyring, 'noteSigners'>, log: LogRef): Omit<Publishing, 'witnessed'> {
  const signed = (state: PublishedState) => checkpointNote(state, keyring.noteSigners());
  return { signed, plain: async (tx) => signed((await publishedState(tx, log))!) };
}

/**
 * Records at startup whether witnesses are configured. From the first start with witnesses, only cosigned checkpoints
 * and `plain` are published: `plain` is the log's own checkpoint at that time, and nothing older is published either.
 */
export function settleCheckpoint(
  database: Database,
  log: LogRef,
  { witnessed, plain }: Pick<Publishing, 'witnessed' | 'plain'>,
): Promise<void> {
  return database.inTransaction('system', async (tx) => {
    if (!witnessed) await putPlainCheckpoint(tx, log, undefined);
    else if ((await plainCheckpoint(tx, log)) === undefined) await putPlainCheckpoint(tx, log, await plain(tx));
  });
}

/**
 * With witnesses: the newest checkpoint that a quorum has cosigned; until then, the last one published without them. A log that
 * was forked openly shows its first state until witnesses cosign a later one under its new name. Processes that are
 * restarted one after the other with other witnesses show the same, so that the checkpoint does not go back between them.
 */
export async function shownCheckpoint(
  database: Database,
  log: LogRef,
  publishing: Publishing,
): Promise<string | undefined> {
  const read = { read: [log.tenantId], write: [] };
  const shown = () => database.inTransaction(read, (tx) => keptCheckpoint(tx, log, publishing.signed));
  const first = await shown();
  if (first !== undefined || !publishing.witnessed) return first;
  // A process without witnesses was started after this one.
  await settleCheckpoint(database, log, publishing);
  return shown();
}

async function keptCheckpoint(tx: Tx, log: LogRef, signed: Publishing['signed']): Promise<string | undefined> {
  // Last: `keepCosigned` may commit between the two, and its cosigned checkpoint must not be shown without its newer state.
  const newest = await newestCosigned(tx, log);
  const before = await plainCheckpoint(tx, log);
  if (before === undefined) return undefined;
  const forked = await firstForkedState(tx, log);
  const ofLog = (note: string) => !forked || decodeCheckpoint(decodeNote(note).text).origin === forked.origin;
  const cosigned = newest && ofLog(newest.note) ? newest : undefined;
  const plain = ofLog(before) ? before : undefined;
  if (forked && !cosigned && !plain) return signed(forked);
  if (!cosigned || !plain) return cosigned?.note ?? plain;
  return cosigned.size >= decodeCheckpoint(decodeNote(plain).text).size ? cosigned.note : plain;
}

/**
 * Stores a checkpoint that a quorum has cosigned. If the log's note key was revoked, nothing that is kept counts any
 * more, and the log has shown each of its newest states. Its last one is then kept too: it may be newer than what the
 * witnesses were asked to cosign.
 * @param ownKeys note keys of the log that are not revoked
 */
export async function keepCosigned(
  tx: Tx,
  log: LogRef,
  { size, note }: { readonly size: bigint; readonly note: string },
  { ownKeys, signed, plain }: Omit<Publishing, 'witnessed'> & { readonly ownKeys: readonly NoteKey[] },
): Promise<void> {
  const kept = await keptCheckpoint(tx, log, signed);
  if (kept !== undefined && !ownKeys.some((key) => signaturesBy(decodeNote(kept), key).length > 0)) {
    // This locks the log, so that nothing newer is published, and shown, before the transaction ends.
    await putPlainCheckpoint(tx, log, undefined);
    await putPlainCheckpoint(tx, log, await plain(tx));
  }
  await insertCosigned(tx, log, size, note);
}
