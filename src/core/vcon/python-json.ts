import { isInteger, isJsonList, isJsonObject, type JsonNumber, type JsonValue } from './json-document.js';

const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]|["\\]/g;
const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};
/** Python writes a float with an exponent from this power of ten on, and below 10^-4. */
const FIRST_EXPONENT = 16;
const LAST_FRACTION = -4;

function quoted(text: string): string {
  return `"${text.replace(
    NOT_PRINTABLE_ASCII,
    (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}"`;
}

/**
 * Returns a double as Python's repr writes it: the shortest digits that read back to it, always with a point or an
 * exponent; `Infinity` for a number that is too large.
 */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa, power] = Math.abs(value).toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent >= FIRST_EXPONENT || exponent < LAST_FRACTION) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

function number(value: JsonNumber): string {
  if (!isInteger(value)) return pythonFloat(Number(value.lexeme));
  return value.lexeme === '-0' ? '0' : value.lexeme;
}

/**
 * Returns the text that Python's `json.dumps` writes with its defaults for the same document: `", "` and `": "` as
 * separators, ASCII only, members in their order, integers of any size, floats as repr. It is byte for byte what a
 * conserver hashes.
 */
export function pythonJson(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quoted(value);
  if (isJsonList(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (!isJsonObject(value)) return number(value);
  return `{${Array.from(value, ([name, member]) => `${quoted(name)}: ${pythonJson(member)}`).join(', ')}}`;
}
