import { withoutTrailing } from './without-trailing.js';

/** Joins byte strings in order. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Returns whether two byte strings have the same length and content. Not constant-time: do not use it for secrets. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let place = 0; place < left.length; place += 1) if (left[place] !== right[place]) return false;
  return true;
}

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Returns bytes in lower-case hex, two characters for each byte. */
export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += HEX_BYTES[byte];
  return hex;
}

/** What a hex digit stands for; the letters' codes differ by case in one bit. */
function nibble(hex: string, place: number): number {
  const code = hex.charCodeAt(place);
  return code < 0x40 ? code - 0x30 : (code | 0x20) - 0x57;
}

/** Returns the bytes of an even-length hex string in either case. @throws {TypeError} if the text is not hex */
export function fromHex(hex: string): Uint8Array {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(hex)) throw new TypeError('not a hex string');
  const bytes = new Uint8Array(hex.length / 2);
  for (let place = 0; place < bytes.length; place += 1)
    bytes[place] = (nibble(hex, 2 * place) << 4) | nibble(hex, 2 * place + 1);
  return bytes;
}

/** Where a number is turned into bytes: a view of each new array would cost more than all else. */
const EIGHT_BYTES = new DataView(new ArrayBuffer(8));

/** Returns a number in 0…2^64−1 as eight bytes, most significant first. */
export function uint64ToBytes(value: bigint): Uint8Array {
  EIGHT_BYTES.setBigUint64(0, value);
  return new Uint8Array(EIGHT_BYTES.buffer).slice();
}

/** Returns the unsigned 64-bit number at `offset`, most significant byte first. */
export function uint64FromBytes(bytes: Uint8Array, offset = 0): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(offset);
}

const UTF8 = new TextEncoder();

/** Returns the UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return UTF8.encode(text);
}

/** Returns bytes in standard base64 with padding (RFC 4648 section 4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += 8192)
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return btoa(binary);
}

/**
 * Returns the bytes of standard base64 or base64url, with or without padding.
 * @throws {TypeError} if the text is neither
 */
export function fromBase64(text: string): Uint8Array {
  const standard = withoutTrailing(text.replaceAll('-', '+').replaceAll('_', '/'), '=');
  if (!/^[A-Za-z0-9+/]*$/.test(standard) || standard.length % 4 === 1) throw new TypeError('not base64');
  const binary = atob(standard);
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < bytes.length; place += 1) bytes[place] = binary.charCodeAt(place);
  return bytes;
}

/** Returns bytes in base64url without padding (RFC 4648 section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return withoutTrailing(toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_'), '=');
}
