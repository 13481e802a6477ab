import { concatBytes, utf8 } from '../bytes.js';

const DICTIONARY = utf8('d');
const LIST = utf8('l');
const END = utf8('e');
const LONE_SURROGATE = /\p{Surrogate}/u;

function byteString(text: string): Uint8Array {
  if (LONE_SURROGATE.test(text)) throw new TypeError('a text with a lone surrogate has no UTF-8 form');
  const bytes = utf8(text);
  return concatBytes(utf8(`${bytes.length}:`), bytes);
}

const ABOVE_SURROGATES = /[\ud800-\uffff]/;

/** Order of the raw UTF-8 bytes, which is the order of code points. */
export function compareUtf8(left: string, right: string): number {
  if (!ABOVE_SURROGATES.test(left) && !ABOVE_SURROGATES.test(right)) return left < right ? -1 : left > right ? 1 : 0;
  const a = utf8(left);
  const b = utf8(right);
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) if (a[index] !== b[index]) return a[index]! - b[index]!;
  return a.length - b.length;
}

function parts(value: unknown, into: Uint8Array[]): void {
  if (typeof value === 'string') into.push(byteString(value));
  else if (typeof value === 'boolean') into.push(utf8(value ? 'i1e' : 'i0e'));
  else if (typeof value === 'bigint') into.push(utf8(`i${value}e`));
  else if (typeof value !== 'object' || value === null)
    throw new TypeError(`bencode of a ${typeof value} is not defined`);
  else if (Array.isArray(value)) {
    into.push(LIST);
    for (const member of value) if (member !== null && member !== undefined) parts(member, into);
    into.push(END);
  } else {
    into.push(DICTIONARY);
    for (const [name, member] of Object.entries(value).sort(([a], [b]) => compareUtf8(a, b))) {
      if (member === null || member === undefined) continue;
      into.push(byteString(name));
      parts(member, into);
    }
    into.push(END);
  }
}

/**
 * Bencode with the semantics of the Go verifier (log format, section 4): names in the order of their UTF-8 bytes, nulls
 * left out, booleans as i1e and i0e. A JavaScript number is refused: the verifier cannot hash one.
 * @throws {TypeError} on a number, a null at the top, or a text with a lone surrogate
 */
export function bencode(value: unknown): Uint8Array {
  const into: Uint8Array[] = [];
  parts(value, into);
  return concatBytes(...into);
}
