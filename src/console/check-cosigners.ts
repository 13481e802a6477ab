import { VerificationError } from '../core/errors.js';
import { verifyCosignature } from '../core/tlog/cosignature.js';
import { encodeVkey, type NoteKey, type SignedNote, signaturesBy } from '../core/tlog/signed-note.js';
import { pageVerify } from './page-verify.js';

/**
 * What a name beside a checkpoint is worth.
 * - `pinned`: the cosignature holds, by a key that the reader knows.
 * - `named`: it holds, by a key that only the service names.
 * - `refused`: it stands under a known key and does not match the checkpoint.
 * - `unknown`: nobody named its key, so nothing was checked.
 * - `absent`: the reader knows this witness, and it has not cosigned.
 */
type Standing = 'pinned' | 'named' | 'refused' | 'unknown' | 'absent';

/** A witness and the newest checkpoint. */
export interface Cosigner {
  readonly name: string;
  readonly standing: Standing;
  /** When the witness signed, if that is proven: RFC 3339, or the number of seconds where that is no date. */
  readonly time?: string;
}

/**
 * Checks every signature beside a log's own on a checkpoint.
 * @param own the log's key
 * @param pinned keys of witnesses that the reader knows
 * @param named keys of witnesses that the service names
 */
export async function checkCosigners(
  note: SignedNote,
  own: NoteKey,
  pinned: readonly NoteKey[],
  named: readonly NoteKey[],
): Promise<readonly Cosigner[]> {
  const isPinned = ({ vkey }: { readonly vkey: string }) => pinned.some((key) => encodeVkey(key) === vkey);
  const known = [...pinned, ...named].map((key) => ({ key, vkey: encodeVkey(key) }));
  const ownLines = signaturesBy(note, own);
  const signed = new Set<string>();
  const cosigners: Cosigner[] = [];
  for (const line of note.signatures) {
    // A log whose key was rotated signs under its name with both keys.
    if (ownLines.includes(line) || line.name === own.name) continue;
    const only = { text: note.text, signatures: [line] };
    const by = known.find(({ key }) => signaturesBy(only, key).length > 0);
    if (by) signed.add(by.vkey);
    cosigners.push(by ? await checkLine(only, by.key, isPinned(by)) : { name: line.name, standing: 'unknown' });
  }
  const absent = known.filter((each) => isPinned(each) && !signed.has(each.vkey));
  return [...cosigners, ...absent.map(({ key }): Cosigner => ({ name: key.name, standing: 'absent' }))];
}

async function checkLine(note: SignedNote, key: NoteKey, isPinned: boolean): Promise<Cosigner> {
  const { name } = key;
  try {
    const seconds = (await verifyCosignature(note, key, pageVerify()))!;
    return { name, standing: isPinned ? 'pinned' : 'named', time: timeOf(seconds) };
  } catch (error) {
    if (error instanceof VerificationError) return { name, standing: 'refused' };
    throw error;
  }
}

/** The last second that a date can have. */
const LAST_SECOND = 8_640_000_000_000n;

const timeOf = (seconds: bigint): string =>
  seconds <= LAST_SECOND ? new Date(1000 * Number(seconds)).toISOString() : String(seconds);
