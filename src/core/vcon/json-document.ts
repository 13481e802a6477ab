import { stringFrom } from './json-members.js';

/** A number as it was written: a double cannot hold every integer, and `10` is not `10.0` in Python. */
export interface JsonNumber {
  readonly lexeme: string;
}

/** Members in the order of their first appearance, whatever their names look like. */
export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** A JSON text without loss: order, number spelling and every integer are kept. */
export interface JsonDocument {
  readonly value: JsonValue;
  /** The first name that occurred twice in one object; the last value stands at the first place, as in Python. */
  readonly duplicateName: string | undefined;
  /** Levels of lists and objects. */
  readonly depth: number;
}

/** The bytes are not a JSON text that every reader agrees on. The message says why and quotes nothing of the content. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** The most levels of lists and objects. Python's reader fails a little above this. */
export const MAX_DEPTH = 900;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end what may stand in a text
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const WORDS: readonly (readonly [string, null | boolean])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
];

class JsonReader {
  readonly #text: string;
  #at = 0;
  #duplicateName: string | undefined;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonDocument {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#error('something follows the value');
    return { value, duplicateName: this.#duplicateName, depth: this.#depth };
  }

  #error(reason: string): JsonError {
    return new JsonError(`not JSON at character ${this.#at}: ${reason}`);
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return;
      this.#at++;
    }
  }

  /** Takes this character, after white space, or leaves everything as it is. */
  #took(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #value(depth: number): JsonValue {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') {
      if (depth >= MAX_DEPTH) throw this.#error(`it is nested deeper than ${MAX_DEPTH} levels`);
      this.#depth = Math.max(this.#depth, depth + 1);
      this.#at++;
      return first === '{' ? this.#object(depth + 1) : this.#list(depth + 1);
    }
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#at;
    const lexeme = NUMBER.exec(this.#text)?.[0];
    if (lexeme === undefined) throw this.#error('a value is expected');
    this.#at += lexeme.length;
    return { lexeme };
  }

  #object(depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    if (this.#took('}')) return members;
    do {
      this.#space();
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#error('a name is expected');
      const name = this.#string();
      if (!this.#took(':')) throw this.#error('a colon is expected');
      if (members.has(name)) this.#duplicateName ??= name;
      members.set(name, this.#value(depth));
    } while (this.#took(','));
    if (!this.#took('}')) throw this.#error('a comma or the end of an object is expected');
    return members;
  }

  #list(depth: number): JsonValue[] {
    const members: JsonValue[] = [];
    if (this.#took(']')) return members;
    do members.push(this.#value(depth));
    while (this.#took(','));
    if (!this.#took(']')) throw this.#error('a comma or the end of a list is expected');
    return members;
  }

  #string(): string {
    const start = this.#at;
    PLAIN_TEXT.lastIndex = start + 1;
    PLAIN_TEXT.test(this.#text);
    this.#at = PLAIN_TEXT.lastIndex;
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#text.slice(start + 1, this.#at++);
    if (code !== BACKSLASH) throw this.#error('a text does not end, or has a control character');
    const { end } = stringFrom(this.#text, start);
    try {
      const text = JSON.parse(this.#text.slice(start, end + 1)) as string;
      this.#at = end + 1;
      return text;
    } catch {
      throw this.#error('a text does not end, or has a control character or an unknown escape');
    }
  }
}

/**
 * Reads a JSON text (RFC 8259, UTF-8, no byte order mark) without loss. Lone surrogates that are escaped are kept, as
 * Python keeps them.
 * @throws {JsonError}
 */
export function readJson(bytes: Uint8Array): JsonDocument {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonError('not UTF-8');
  }
  if (text.startsWith('\ufeff')) throw new JsonError('it begins with a byte order mark: save it without one');
  return readJsonText(text);
}

/** The same of a text that is decoded already. @throws {JsonError} */
export function readJsonText(text: string): JsonDocument {
  return new JsonReader(text).document();
}

/** Returns whether a value is an object. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

/** Returns whether a value is a list. */
export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns whether a number was written as an integer. Python and RedisJSON distinguish it from a float. */
export function isInteger(number: JsonNumber): boolean {
  return !/[.eE]/.test(number.lexeme);
}
