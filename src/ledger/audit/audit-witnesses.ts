import { equalBytes, fromBase64 } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { firstName, generationName } from '../../core/fork/log-generation.js';
import { sha256 } from '../../core/sha256.js';
import { decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { verifyCosignature } from '../../core/tlog/cosignature.js';
import { decodeNote, type NoteKey, NoteKeyType, verifyNote } from '../../core/tlog/signed-note.js';
import type { LogRef, LogState } from '../log.js';
import { findLog } from '../log-store.js';
import type { AuditContext } from './audit-context.js';
import {
  keptCheckpoints,
  plainCheckpoints,
  type RegisteredSealRow,
  registeredSeals,
  rootOver,
  wronglyWitnessed,
} from './witness-audit-store.js';

const PAGE = 500;
const NAME = 'witnesses';
const EMPTY_ROOT = sha256(new Uint8Array());

/** The witnesses that count, as far as the auditor knows them: without their keys, cosignatures are not checked. */
interface WitnessAudit extends Pick<AuditContext, 'database' | 'keyring' | 'verifySignature' | 'fault'> {
  readonly publicLog: LogRef;
  readonly keysLog: LogRef;
  readonly witnesses: readonly NoteKey[];
  readonly quorum: number;
}

/**
 * Checks the records about witnesses:
 * - every registered seal is the entry of the public statement log that its row names;
 * - every cosigned checkpoint is of that log and validly signed;
 * - no log has more leaves marked as witnessed than the checkpoints cover.
 */
export async function auditWitnesses(audit: WitnessAudit): Promise<void> {
  const { database, fault, publicLog, keysLog } = audit;
  await auditRegisteredSeals(audit);
  const { logs, cosigned, plain, wrong } = await database.inTransaction('system', async (tx) => ({
    logs: new Map([
      [publicLog.logId, await findLog(tx, publicLog)],
      [keysLog.logId, await findLog(tx, keysLog)],
    ]),
    cosigned: await keptCheckpoints(tx),
    plain: await plainCheckpoints(tx),
    wrong: await wronglyWitnessed(tx, publicLog),
  }));
  for (const { name: log, said, covered } of wrong)
    fault(log, `its row says that ${said} leaves are witnessed, but ${covered} are`);
  for (const { tenant_id: tenantId, log_id: logId, size, note, root } of cosigned) {
    const what = `the cosigned checkpoint over ${size} entries`;
    const ours = [publicLog, keysLog].some((log) => tenantId === log.tenantId && logId === log.logId);
    if (!ours) fault(NAME, `${what} is of another log`);
    else
      await checkNote(audit, what, {
        note,
        origin: nameOver(logs.get(logId), size),
        root: root ?? undefined,
        size,
        cosigned: true,
      });
  }
  for (const { tenant_id: tenantId, log_id: logId, plain_checkpoint: note } of plain) {
    const log = { tenantId, logId };
    const state = await database.inTransaction('system', (tx) => findLog(tx, log));
    const origin = nameOver(state, sizeOf(note) ?? 0n);
    const root = await rootOfNote(audit, log, note);
    await checkNote(audit, 'the checkpoint that was shown before', {
      note,
      origin,
      root,
      size: undefined,
      cosigned: false,
    });
  }
}

/** The name of a log in a checkpoint over this many entries: the generations after an open fork have more. */
function nameOver(log: LogState | undefined, entries: bigint): string | undefined {
  if (!log) return undefined;
  const generation = log.forks.findLast(({ leaves }) => leaves < entries)?.generation ?? 0;
  return generationName({ base: firstName(log.name), generation });
}

async function auditRegisteredSeals({ database, fault, publicLog }: WitnessAudit): Promise<void> {
  for (let after = { logId: '00000000-0000-0000-0000-000000000000', sealNumber: -1n }; ; ) {
    const rows = await database.inTransaction('system', (tx) => registeredSeals(tx, publicLog, after, PAGE));
    for (const row of rows) {
      const what = registeredFault(row);
      if (what) fault(NAME, `seal ${row.seal_number} of log ${row.log_id}: ${what}`);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = { logId: last.log_id, sealNumber: last.seal_number };
  }
}

function registeredFault(row: RegisteredSealRow): string | undefined {
  if (!row.signed || row.seal_leaves === null) return 'is registered, but missing';
  if (row.leaves !== row.seal_leaves) return `is registered over ${row.leaves} leaves`;
  if (!row.entry || !equalBytes(row.entry, row.signed)) return 'differs from the entry that it is registered as';
  return row.logged ? undefined : 'is registered, but its entry is in no log';
}

async function rootOfNote({ database }: WitnessAudit, log: LogRef, note: string): Promise<Uint8Array | undefined> {
  const size = sizeOf(note);
  if (size === 0n) return EMPTY_ROOT;
  return size === undefined ? undefined : database.inTransaction('system', (tx) => rootOver(tx, log, size));
}

function sizeOf(note: string): bigint | undefined {
  try {
    return decodeCheckpoint(decodeNote(note).text).size;
  } catch {
    return undefined;
  }
}

interface Expected {
  readonly note: string;
  readonly origin: string | undefined;
  readonly root: Uint8Array | undefined;
  /** According to its row. */
  readonly size: bigint | undefined;
  readonly cosigned: boolean;
}

async function checkNote(audit: WitnessAudit, what: string, expected: Expected): Promise<void> {
  const { note, origin, root, size, cosigned } = expected;
  try {
    const keys = audit.keyring.everyKey(['note']).flatMap(({ jwk }): NoteKey[] => {
      const named = jwk.kty === 'OKP' && origin !== undefined;
      return named ? [{ name: origin, type: NoteKeyType.ed25519, publicKey: fromBase64(jwk.x) }] : [];
    });
    const checkpoint = decodeCheckpoint(await verifyNote(note, keys, audit.verifySignature));
    const same =
      checkpoint.origin === origin &&
      (size === undefined || checkpoint.size === size) &&
      root !== undefined &&
      equalBytes(checkpoint.root, root);
    if (!same) audit.fault(NAME, `${what} differs from the log`);
    if (cosigned) await checkCosignatures(audit, what, note);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    audit.fault(NAME, `${what}: ${error.message}`);
  }
}

async function checkCosignatures(audit: WitnessAudit, what: string, note: string): Promise<void> {
  if (audit.witnesses.length === 0) return;
  const read = decodeNote(note);
  let by = 0;
  for (const witness of audit.witnesses)
    if ((await verifyCosignature(read, witness, audit.verifySignature)) !== undefined) by += 1;
  if (by < audit.quorum) audit.fault(NAME, `${what} is cosigned by ${by} witnesses, but ${audit.quorum} are required`);
}
