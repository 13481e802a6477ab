import { concatBytes, equalBytes } from '../bytes.js';
import { sha256 } from '../sha256.js';

/** RFC 4648 section 6. Twelve lines, and nothing else here needs them: no library is worth its place in a browser for it. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const THUMBPRINT_BYTES = 32;
const CHECKSUM_BYTES = 3;
/** 35 bytes are 56 characters, without padding. */
const CHARACTERS = ((THUMBPRINT_BYTES + CHECKSUM_BYTES) * 8) / 5;
const GROUP = 4;

/** Text that is not a fingerprint. The message helps a person who copied it from paper to find the mistake. */
export class FingerprintError extends Error {
  override readonly name = 'FingerprintError';
}

function checksum(thumbprint: Uint8Array): Uint8Array {
  return sha256(thumbprint).subarray(0, CHECKSUM_BYTES);
}

function toBase32(bytes: Uint8Array): string {
  let [text, bits, rest] = ['', 0, 0];
  for (const byte of bytes) {
    rest = (rest << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(rest >> (bits - 5)) & 31];
    rest &= 31;
  }
  return text;
}

function fromBase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let [bits, rest] = [0, 0];
  for (const character of text) {
    rest = ((rest << 5) | ALPHABET.indexOf(character)) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((rest >> bits) & 255);
  }
  return Uint8Array.from(bytes);
}

/**
 * Returns the fingerprint of a root key: base32 of its RFC 9679 SHA-256 thumbprint (32 bytes) and a checksum, the first 3
 * bytes of the thumbprint's SHA-256, in 14 groups of 4 characters (docs/formats/key-manifest.md).
 * @param thumbprint 32 bytes
 */
export function rootFingerprint(thumbprint: Uint8Array): string {
  if (thumbprint.length !== THUMBPRINT_BYTES) throw new TypeError('a thumbprint is 32 bytes');
  const text = toBase32(concatBytes(thumbprint, checksum(thumbprint)));
  return text.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}

/**
 * Returns the thumbprint (32 bytes) that a fingerprint stands for. Spaces, line breaks and hyphens anywhere and small
 * letters are accepted.
 * @throws {FingerprintError} for other characters, another length or a wrong checksum
 */
export function parseRootFingerprint(text: string): Uint8Array {
  const characters = text.replace(/[\s-]/g, '').toUpperCase();
  const strange = [...characters].find((character) => !ALPHABET.includes(character));
  if (strange !== undefined)
    throw new FingerprintError(
      `the fingerprint has the character ${JSON.stringify(strange)}: it is made of the letters A to Z and the digits 2 to 7 (0 is the letter O, 1 the letter I or L, 8 the letter B)`,
    );
  if (characters === '') throw new FingerprintError('the fingerprint is empty: give all 14 groups');
  if (characters.length !== CHARACTERS)
    throw new FingerprintError(
      `the fingerprint has ${characters.length} characters, not ${CHARACTERS}: copy all 14 groups`,
    );
  const bytes = fromBase32(characters);
  const thumbprint = bytes.slice(0, THUMBPRINT_BYTES);
  if (!equalBytes(bytes.subarray(THUMBPRINT_BYTES), checksum(thumbprint)))
    throw new FingerprintError(
      'the checksum of the fingerprint is wrong: at least one character differs from the original',
    );
  return thumbprint;
}
