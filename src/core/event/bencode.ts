import { utf8 } from '../bytes.js';

const LONE_SURROGATE = /\p{Surrogate}/u;
const BEYOND_ASCII = /[^\0-\x7f]/;

function byteString(text: string): string {
  if (!BEYOND_ASCII.test(text)) return `${text.length}:${text}`;
  if (LONE_SURROGATE.test(text)) throw new TypeError('a text with a lone surrogate has no UTF-8 form');
  return `${utf8(text).length}:${text}`;
}

const ABOVE_SURROGATES = /[\ud800-\uffff]/;

/** Compares two texts by their raw UTF-8 bytes, which is the order of code points. */
export function compareUtf8(left: string, right: string): number {
  if (!ABOVE_SURROGATES.test(left) && !ABOVE_SURROGATES.test(right)) return left < right ? -1 : left > right ? 1 : 0;
  const a = utf8(left);
  const b = utf8(right);
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) if (a[index] !== b[index]) return a[index]! - b[index]!;
  return a.length - b.length;
}

/** Without names beyond the surrogates, the order of UTF-16 is that of UTF-8. */
function sortedNames(value: object): string[] {
  const names = Object.keys(value);
  return names.some((name) => ABOVE_SURROGATES.test(name)) ? names.sort(compareUtf8) : names.sort();
}

/** How texts and the order of names are encoded. */
interface Form {
  readonly text: (text: string) => string;
  readonly names: (value: object) => string[];
}

/** With more names, sorting by insertion would take the square of their number. */
const FEW_NAMES = 32;

/** Names in the order of UTF-16. V8 copies what it sorts, which for the few names of an event took a third of its encoding. */
function asciiNames(value: object): string[] {
  const names = Object.keys(value);
  if (names.length > FEW_NAMES) return names.sort();
  for (let end = 1; end < names.length; end += 1) {
    const name = names[end]!;
    let place = end;
    for (; place > 0 && names[place - 1]! > name; place -= 1) names[place] = names[place - 1]!;
    names[place] = name;
  }
  return names;
}

const UNICODE: Form = { text: byteString, names: sortedNames };
/** Right where every text is ASCII, for which it does not look. */
const ASCII: Form = { text: (text) => `${text.length}:${text}`, names: asciiNames };

function encoded(value: unknown, form: Form): string {
  if (typeof value === 'string') return form.text(value);
  if (typeof value === 'boolean') return value ? 'i1e' : 'i0e';
  if (typeof value === 'bigint') return `i${value}e`;
  if (typeof value !== 'object' || value === null) throw new TypeError(`bencode of a ${typeof value} is not defined`);
  let members = '';
  if (Array.isArray(value)) {
    for (const member of value) if (member !== null && member !== undefined) members += encoded(member, form);
    return `l${members}e`;
  }
  for (const name of form.names(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member !== null && member !== undefined) members += form.text(name) + encoded(member, form);
  }
  return `d${members}e`;
}

/**
 * Returns the bencode of a value with the semantics of the Go verifier (log format, section 4): names in the order of
 * their UTF-8 bytes, nulls left out, booleans as i1e and i0e. A JavaScript number is refused, because the verifier
 * cannot hash one.
 * @throws {TypeError} for a number, a null at the top, or a text with a lone surrogate
 */
export function bencode(value: unknown): Uint8Array {
  // One text, turned into bytes once: lengths are counted in bytes while it grows. Nearly all of them are ASCII; the
  // others have more bytes than they have characters.
  const text = encoded(value, ASCII);
  const bytes = utf8(text);
  return bytes.length === text.length ? bytes : utf8(encoded(value, UNICODE));
}
