import type { VerifySignature } from '../../core/cose/signature.js';
import { rfc9162ConsistencyNodes, rfc9162ConsistencyPath } from '../../core/rfc9162/rfc9162-consistency-path.js';
import { decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { decodeNote, signaturesBy } from '../../core/tlog/signed-note.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Logger } from '../../platform/logger.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { checkpointNote, ownNoteKeys, publishedState } from '../checkpoint-note.js';
import type { LogRef } from '../log.js';
import { readNodes } from '../node-page-store.js';
import { quorumGrace } from './quorum-grace.js';
import { registerSeals } from './register-seals.js';
import { keepCosigned, ownCheckpoints } from './shown-checkpoint.js';
import { askWitness, type CheckpointSubmission, type Witness, WitnessRefused } from './witness.js';
import { advanceWitnessed, newestCosigned, putWitnessSizes, replaceCosigned, witnessSizes } from './witness-store.js';

export interface WitnessDeps {
  readonly database: Database;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keyring: Pick<Keyring, 'noteSigners' | 'publicKeys'>;
  readonly verifySignature: VerifySignature;
  readonly witnesses: readonly Witness[];
  /** How many of the witnesses must cosign. */
  readonly quorum: number;
  readonly publicLog: LogRef;
  /** Also cosigned: its entries are the key manifests. */
  readonly keysLog: LogRef;
  nudge(tenantId: string, logId: string): void;
  /** Told the name of each witness that did not cosign, or not in time. */
  witnessFailed(witness: string): void;
}

/**
 * How long a round waits for the other witnesses once they cannot change its result. A witness that hangs would otherwise
 * hold up every round.
 */
const GRACE_MS = 500;

/** The result of a round. */
interface WitnessRound {
  readonly registered: number;
  /** Entries of the public statement log under the checkpoint that a quorum cosigned; absent without a quorum. */
  readonly cosigned?: bigint;
  readonly cosignatures: number;
  /** A quorum has cosigned all that the public statement log has published. */
  readonly complete: boolean;
}

interface Asked {
  readonly witness: string;
  readonly line?: string;
}

/** A checkpoint, and the witnesses that have not cosigned it. */
interface Due {
  readonly submission: CheckpointSubmission;
  readonly witnesses: readonly Witness[];
  /** The same checkpoint with the cosignatures of a quorum, if it is stored already. */
  readonly kept?: string;
}

/**
 * The newest checkpoint of a log, and who of the witnesses has yet to cosign it; undefined if all of them have, or a quorum
 * and nobody is asked late.
 */
async function dueOf(deps: WitnessDeps, log: LogRef, late: boolean): Promise<Due | undefined> {
  const { database } = deps;
  const { state, newest } = await database.inTransaction('system', async (tx) => ({
    state: await publishedState(tx, log),
    newest: await newestCosigned(tx, log),
  }));
  if (!state || state.size === 0n) return undefined;
  const { size } = state;
  const kept = newest?.size === size ? newest.note : undefined;
  if (kept !== undefined && !late) return undefined;
  const witnesses = kept === undefined ? deps.witnesses : missingIn(kept, deps.witnesses);
  if (witnesses.length === 0) return undefined;
  const submission: CheckpointSubmission = {
    note: await checkpointNote(state, deps.keyring.noteSigners()),
    size,
    proofFrom: (oldSize) =>
      database.inTransaction('system', async (tx) =>
        rfc9162ConsistencyPath(oldSize, size, await readNodes(tx, log, rfc9162ConsistencyNodes(oldSize, size))),
      ),
  };
  if (kept === undefined) return { submission, witnesses };
  // A cosignature of another text would spoil the stored checkpoint.
  return decodeNote(kept).text === decodeNote(submission.note).text ? { submission, witnesses, kept } : undefined;
}

/** Witnesses that were added, or did not answer, after a quorum had cosigned. */
function missingIn(note: string, witnesses: readonly Witness[]): Witness[] {
  const read = decodeNote(note);
  return witnesses.filter(({ key }) => signaturesBy(read, key).length === 0);
}

/**
 * Asks the witnesses side by side. If no quorum has cosigned this checkpoint before, the wait ends soon after one has, or
 * none can. A later cosignature is dropped: the witness is asked again, and then names the size that it knows.
 */
async function askAll(deps: WitnessDeps, log: LogRef, { submission, witnesses, kept }: Due): Promise<Asked[]> {
  const { database, verifySignature, clock, logger } = deps;
  const sizes = await database.inTransaction('system', (tx) => witnessSizes(tx, log));
  const grace = quorumGrace(witnesses.length, kept === undefined ? deps.quorum : Number.POSITIVE_INFINITY, GRACE_MS);
  return Promise.all(
    witnesses.map(async (witness): Promise<Asked> => {
      const { name } = witness.key;
      const call = { witness, oldSize: sizes.get(name) ?? 0n, verifySignature, now: () => clock.now() };
      try {
        return { witness: name, line: await grace.answerOf(askWitness(call, submission)) };
      } catch (error) {
        if (!(error instanceof WitnessRefused)) throw error;
        deps.witnessFailed(name);
        logger.warn(
          { witness: name, logId: log.logId, reason: error.message },
          'a witness did not cosign; the next round asks it again',
        );
        return { witness: name };
      }
    }),
  ).finally(() => grace.close());
}

/**
 * Runs one round: registers new seals in the public statement log, and has its newest checkpoint and that of the keys log
 * cosigned by each witness that has not done so. If a quorum cosigns, it stores the checkpoint and moves the covered
 * events to UNEQUIVOCAL (docs/design/README.md#one-operation). Each step is idempotent. A crash between a request and
 * storing its answer leaves witnesses ahead of us; they report their size in the next round.
 * @param late whether witnesses that had not cosigned when a quorum was reached are asked too
 */
export async function runWitnessRound(deps: WitnessDeps, late: boolean): Promise<WitnessRound> {
  const { publicLog, keysLog } = deps;
  const registered = await registerSeals(deps, publicLog);
  if (registered > 0) deps.nudge(publicLog.tenantId, publicLog.logId);
  const cosigned = await cosignLog(deps, publicLog, late, (tx, size) => advanceWitnessed(tx, publicLog, size));
  await cosignLog(deps, keysLog, late);
  return { registered, ...cosigned };
}

/**
 * Has the newest checkpoint of a log cosigned by those witnesses that have not done so. Calls `reached` if they make up a
 * quorum; if a quorum had cosigned before, their cosignatures are added to the others.
 */
async function cosignLog(
  deps: WitnessDeps,
  log: LogRef,
  late: boolean,
  reached: (tx: Tx, size: bigint) => Promise<unknown> = async () => undefined,
): Promise<Omit<WitnessRound, 'registered'>> {
  const due = await dueOf(deps, log, late);
  if (!due) return { cosignatures: 0, complete: true };
  const { submission, kept } = due;
  const { size } = submission;
  const cosigned = (await askAll(deps, log, due)).filter(({ line }) => line !== undefined);
  if (cosigned.length === 0) return { cosignatures: 0, complete: kept !== undefined };
  const quorum = kept !== undefined || cosigned.length >= deps.quorum;
  const lines = cosigned.map(({ line }) => line).join('');
  await deps.database.inTransaction('system', async (tx) => {
    const names = cosigned.map(({ witness }) => witness);
    await putWitnessSizes(tx, log, names, size);
    if (kept !== undefined) await replaceCosigned(tx, log, size, { before: kept, after: kept + lines });
    else if (quorum) {
      const { origin } = decodeCheckpoint(decodeNote(submission.note).text);
      const own = { ...ownCheckpoints(deps.keyring, log), ownKeys: ownNoteKeys(deps.keyring, origin) };
      await keepCosigned(tx, log, { size, note: submission.note + lines }, own);
      await reached(tx, size);
    }
  });
  return { cosignatures: cosigned.length, complete: quorum, ...(quorum ? { cosigned: size } : {}) };
}
