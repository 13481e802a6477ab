import { compareUtf8 } from './bencode.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped
const ESCAPED = /["\\\u0000-\u001f<>&\u2028\u2029]/g;
const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function quoted(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('a text with a lone surrogate has no UTF-8 form');
  return `"${text.replace(
    ESCAPED,
    (character) => SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}"`;
}

function number(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('JSON has no number that is not finite');
  return Object.is(value, -0) ? '-0' : String(value);
}

/**
 * Returns JSON as Go's encoding/json writes a decoded document: names in the order of their UTF-8 bytes at every level,
 * HTML characters and line separators escaped, numbers as float64 in the shortest form, null for an absent value.
 * @throws {TypeError} for a value that JSON cannot hold
 */
export function goJson(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return number(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value}`);
  const members = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b));
  return `{${members.map(([name, member]) => `${quoted(name)}:${goJson(member)}`).join(',')}}`;
}
