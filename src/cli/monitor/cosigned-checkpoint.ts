import { utf8 } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { verifiedCosigners } from '../../core/tlog/cosignature.js';
import { decodeNote } from '../../core/tlog/signed-note.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import type { NamedWitnesses } from '../witness-options.js';
import { LogUnreachable } from './fetch-file.js';
import type { KeptFiles } from './kept-files.js';
import { MOST_AWAITED_MS } from './known-entry.js';

/** A checkpoint and the named witnesses that have cosigned it. */
interface Cosigned {
  readonly witnesses: NamedWitnesses;
  /** Names of those whose cosignatures hold. */
  readonly by: readonly string[];
}

/** File that says whether the last checkpoint was cosigned; it changes only when that changes. */
const COSIGNED = 'cosigned';

/**
 * Checks the cosignatures of the named witnesses on a checkpoint.
 * @throws {VerificationError} `checkpoint_signature_invalid` if one does not match the checkpoint
 */
export async function readCosigned(note: Uint8Array, witnesses: NamedWitnesses): Promise<Cosigned> {
  const read = decodeNote(new TextDecoder().decode(note));
  return { witnesses, by: await verifiedCosigners(read, witnesses.witnesses, nodeVerify) };
}

const hasQuorum = ({ witnesses, by }: Cosigned): boolean => by.length >= witnesses.quorum;

/** Says which of the named witnesses have cosigned a checkpoint, and which have not. */
export function cosignedText({ witnesses, by }: Cosigned): string {
  const missing = witnesses.witnesses.map(({ name }) => name).filter((name) => !by.includes(name));
  if (by.length === 0) return `not cosigned by ${missing.join(', ')}`;
  return `cosigned by ${by.join(', ')}${missing.length > 0 ? `, not by ${missing.join(', ')}` : ''}`;
}

/**
 * Checks that enough witnesses have cosigned the newest checkpoint of a log. A service without a cosignature under the name
 * or key that its log has now publishes a plain checkpoint, so they may be missing for ten minutes.
 * @param text what was seen of the log, for the message
 * @throws {LogUnreachable} until then
 * @throws {VerificationError} `witness_quorum_missing` after that: nobody else may have seen this log
 */
export async function checkCosigned(cosigned: Cosigned, text: string, kept: KeptFiles, nowMs: number): Promise<void> {
  const isEnough = hasQuorum(cosigned);
  await kept.write(COSIGNED, utf8(isEnough ? 'yes' : 'no'));
  if (isEnough) return;
  const reason = `${text}; ${cosignedText(cosigned)}: ${cosigned.witnesses.quorum} of the named witnesses must have cosigned it`;
  if (nowMs - ((await kept.changedAt(COSIGNED)) ?? nowMs) <= MOST_AWAITED_MS) throw new LogUnreachable(reason);
  throw new VerificationError(
    'witness_quorum_missing',
    `${reason}. This has lasted for more than ten minutes: the log may be one that only this monitor is shown`,
  );
}

/** What the seen checkpoint was cosigned by: it may be from a time when no witnesses were named, and was not checked then. */
async function seenCosigned(note: Uint8Array, witnesses: NamedWitnesses): Promise<Cosigned> {
  try {
    return await readCosigned(note, witnesses);
  } catch (error) {
    if (error instanceof VerificationError) return { witnesses, by: [] };
    throw error;
  }
}

/**
 * Returns the error that a checkpoint contradicts what was seen before, with who cosigned either one. If only one of the two
 * is cosigned, the service shows a log that its witnesses do not know: a split view.
 * @param seen the checkpoint that was seen before; undefined at the first look
 */
export async function withCosigners(
  error: VerificationError,
  cosigned: Cosigned,
  seen: Uint8Array | undefined,
): Promise<VerificationError> {
  if (error.code !== 'consistency_invalid' || !seen) return error;
  const before = await seenCosigned(seen, cosigned.witnesses);
  const split = hasQuorum(cosigned) !== hasQuorum(before) ? 'a split view: ' : '';
  const who = `this checkpoint is ${cosignedText(cosigned)}; the one that was seen before is ${cosignedText(before)}`;
  return new VerificationError(error.code, `${split}${error.message}; ${who}`);
}
