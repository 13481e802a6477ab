import { concatBytes, equalBytes, fromBase64, fromHex, toBase64, toBase64Url, toHex, utf8 } from '../bytes.js';
import { Algorithm } from '../cose/algorithms.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { VerifySignature } from '../cose/signature.js';
import { webCryptoVerify } from '../cose/web-crypto-verify.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';

/** What a key signs: the note itself, or a timestamped cosignature of it (C2SP signed-note, tlog-cosignature). */
export const NoteKeyType = { ed25519: 1, cosignature: 4 } as const;
export type NoteKeyType = (typeof NoteKeyType)[keyof typeof NoteKeyType];

/** An Ed25519 key by its name, as a vkey text carries it. */
export interface NoteKey {
  readonly name: string;
  readonly type: NoteKeyType;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** One line of signature; what follows the key id depends on the key's type. */
interface NoteSignature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

/** The parts of a note. Nothing is checked. */
export interface SignedNote {
  /** Ends with a line feed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const SIGNATURE_LINE = /^— ([^\p{White_Space}+]+) ([A-Za-z0-9+/]+={0,2})$/u;
/** A control character other than a line feed. */
const CONTROL = /[^\n -\u{10ffff}]/u;
const MOST_SIGNATURES = 100;
const MOST_BYTES = 1 << 20;

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a signed note: ${reason}`);
}

/** The first four bytes of SHA-256 over name, line feed, type and key. */
function noteKeyId({ name, type, publicKey }: NoteKey): Uint8Array {
  return sha256(utf8(name), Uint8Array.of(0x0a, type), publicKey).slice(0, 4);
}

/** Returns a verifier key as C2SP tools read it: `name+hash+base64`. */
export function encodeVkey(key: NoteKey): string {
  return `${key.name}+${toHex(noteKeyId(key))}+${toBase64(concatBytes(Uint8Array.of(key.type), key.publicKey))}`;
}

/** No bytes at all when it is not base64: too few for any use of them. */
function base64Bytes(encoded: string): Uint8Array {
  try {
    return fromBase64(encoded);
  } catch {
    return new Uint8Array();
  }
}

/** Reads a vkey. @throws {VerificationError} `key_invalid` if it is malformed, or its hash belongs to another key */
export function decodeVkey(vkey: string): NoteKey {
  const [, name, hash, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(vkey) ?? [];
  const bytes = encoded === undefined ? new Uint8Array() : base64Bytes(encoded);
  const type = bytes[0];
  const known = type === NoteKeyType.ed25519 || type === NoteKeyType.cosignature;
  if (name === undefined || !known || bytes.length !== 33)
    throw new VerificationError('key_invalid', 'a verifier key is not name+hash+key of an Ed25519 key');
  const key = { name, type, publicKey: bytes.slice(1) };
  if (!equalBytes(noteKeyId(key), fromHex(hash!)))
    throw new VerificationError('key_invalid', `the verifier key of ${name} has the hash of another key`);
  return key;
}

/** Returns a signature line: em dash, name, base64 of key id and signature. */
export function signatureLine(key: NoteKey, signature: Uint8Array): string {
  return `— ${key.name} ${toBase64(concatBytes(noteKeyId(key), signature))}\n`;
}

/**
 * Returns a note: a text that ends with a line feed, and its signature lines.
 * @throws {TypeError} if the text does not end with a line feed
 */
export function encodeNote(text: string, lines: readonly string[]): string {
  if (!text.endsWith('\n')) throw new TypeError('the text of a note ends with a line feed');
  return `${text}\n${lines.join('')}`;
}

/** Splits a note into its parts. @throws {VerificationError} `malformed` */
export function decodeNote(note: string): SignedNote {
  if (note.length > MOST_BYTES) throw malformed('too long');
  if (CONTROL.test(note)) throw malformed('it has a control character');
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n')) throw malformed('it has no signature lines');
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > MOST_SIGNATURES) throw malformed('it has too many signatures');
  return { text: note.slice(0, end + 1), signatures: lines.map(readSignatureLine) };
}

/** Reads a signature line, without its line feed. @throws {VerificationError} `malformed` */
export function readSignatureLine(line: string): NoteSignature {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? [];
  if (name === undefined) throw malformed('a signature line is not "— name base64"');
  const bytes = base64Bytes(encoded!);
  if (bytes.length < 5 || toBase64(bytes) !== encoded) throw malformed('a signature is too short, or no base64');
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
}

/** Returns the signatures of a note that name this key, by its name and its id. */
export function signaturesBy(note: SignedNote, key: NoteKey): NoteSignature[] {
  const keyId = noteKeyId(key);
  return note.signatures.filter((each) => each.name === key.name && equalBytes(each.keyId, keyId));
}

/** Returns the key as a JWK, for signature checks. */
export function noteKeyJwk({ publicKey }: NoteKey): PublicJwk {
  return { kty: 'OKP', crv: 'Ed25519', x: toBase64Url(publicKey) };
}

/**
 * Checks that a trusted key signed a note, and resolves with its text. Signatures of other keys are skipped (C2SP
 * signed-note). An invalid signature of a trusted key is refused.
 * @throws {VerificationError} `malformed`, `log_key_not_trusted`, `checkpoint_signature_invalid`
 */
export async function verifyNote(
  note: string,
  keys: readonly NoteKey[],
  verifySignature: VerifySignature = webCryptoVerify,
): Promise<string> {
  const read = decodeNote(note);
  let trusted = false;
  for (const key of keys) {
    for (const { signature } of signaturesBy(read, key)) {
      const good =
        signature.length === 64 &&
        (await verifySignature(noteKeyJwk(key), Algorithm.eddsa, utf8(read.text), signature));
      if (!good)
        throw new VerificationError(
          'checkpoint_signature_invalid',
          `the signature of ${key.name} does not match the note`,
        );
      trusted = true;
    }
  }
  if (!trusted) throw new VerificationError('log_key_not_trusted', 'none of the given keys signed the note');
  return read.text;
}
