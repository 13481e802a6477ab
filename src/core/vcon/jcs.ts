import {
  isInteger,
  isJsonList,
  isJsonObject,
  type JsonDocument,
  type JsonNumber,
  type JsonValue,
} from './json-document.js';

/** The canonical form of a document, and whether two different documents may share it. */
interface CanonicalJson {
  readonly text: string;
  /** An integer beyond ±(2^53−1) was rounded to a double, as RFC 8785 has it. */
  readonly lossy: boolean;
}

/** A document that has no canonical form. */
export class NoCanonicalFormError extends Error {
  override readonly name = 'NoCanonicalFormError';
}

interface Loss {
  lossy: boolean;
}

function quoted(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new NoCanonicalFormError('a text has a lone surrogate');
  return JSON.stringify(text);
}

function number(value: JsonNumber, loss: Loss): string {
  const double = Number(value.lexeme);
  if (!Number.isFinite(double)) throw new NoCanonicalFormError('a number is too large for a double');
  if (isInteger(value) && !Number.isSafeInteger(double)) loss.lossy = true;
  return String(double);
}

function write(value: JsonValue, loss: Loss): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quoted(value);
  if (isJsonList(value)) return `[${value.map((member) => write(member, loss)).join(',')}]`;
  if (!isJsonObject(value)) return number(value, loss);
  // The default order of JavaScript is that of UTF-16 units, which the RFC asks for.
  const names = [...value.keys()].sort();
  return `{${names.map((name) => `${quoted(name)}:${write(value.get(name)!, loss)}`).join(',')}}`;
}

/**
 * Returns the RFC 8785 form of a value whose names are already unique.
 * @throws {NoCanonicalFormError} for a lone surrogate, and for a number that is not a double
 */
export function canonicalJson(value: JsonValue): CanonicalJson {
  const loss: Loss = { lossy: false };
  return { text: write(value, loss), lossy: loss.lossy };
}

/**
 * Returns the RFC 8785 form of a document. Order, white space, escapes and `10.0` for `10` make no difference.
 * @throws {NoCanonicalFormError} also if a name occurs twice, because readers differ in which one counts
 */
export function jcs(document: JsonDocument): CanonicalJson {
  if (document.duplicateName !== undefined) throw new NoCanonicalFormError('a name occurs twice in one object');
  return canonicalJson(document.value);
}
