import { concatBytes, equalBytes, uint64FromBytes, uint64ToBytes, utf8 } from '../bytes.js';
import { Algorithm } from '../cose/algorithms.js';
import type { VerifySignature } from '../cose/signature.js';
import { webCryptoVerify } from '../cose/web-crypto-verify.js';
import { VerificationError } from '../errors.js';
import { type NoteKey, noteKeyJwk, type SignedNote, signaturesBy } from './signed-note.js';

/**
 * Returns the bytes that a witness signs: when it saw a checkpoint, in Unix seconds, and the checkpoint's text (C2SP
 * tlog-cosignature).
 */
export function cosignatureMessage(time: bigint, text: string): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/** Returns the bytes of a signature line that follow the key id. */
export function encodeCosignature(time: bigint, signature: Uint8Array): Uint8Array {
  return concatBytes(uint64ToBytes(time), signature);
}

/**
 * Checks a witness's cosignature on a note. Resolves with its time in Unix seconds; undefined if the witness has not
 * cosigned.
 * @throws {VerificationError} `checkpoint_signature_invalid`
 */
export async function verifyCosignature(
  note: SignedNote,
  witness: NoteKey,
  verifySignature: VerifySignature = webCryptoVerify,
): Promise<bigint | undefined> {
  const [line] = signaturesBy(note, witness);
  if (!line) return undefined;
  const time = line.signature.length === 72 ? uint64FromBytes(line.signature) : undefined;
  const good =
    time !== undefined &&
    (await verifySignature(
      noteKeyJwk(witness),
      Algorithm.eddsa,
      cosignatureMessage(time, note.text),
      line.signature.slice(8),
    ));
  if (!good)
    throw new VerificationError('checkpoint_signature_invalid', `the cosignature of ${witness.name} does not match`);
  return time;
}

/**
 * Checks the cosignatures of the given witnesses on a note. Resolves with the names of those that have cosigned. A key
 * counts once, even if it was given or has signed several times.
 * @throws {VerificationError} `checkpoint_signature_invalid`
 */
export async function verifiedCosigners(
  note: SignedNote,
  witnesses: readonly NoteKey[],
  verifySignature?: VerifySignature,
): Promise<string[]> {
  const distinct = witnesses.filter(
    (each, place) => witnesses.findIndex((other) => equalBytes(other.publicKey, each.publicKey)) === place,
  );
  const names: string[] = [];
  for (const witness of distinct)
    if ((await verifyCosignature(note, witness, verifySignature)) !== undefined) names.push(witness.name);
  return names;
}
