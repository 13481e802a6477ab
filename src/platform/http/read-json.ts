import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError } from '../errors.js';

/** Deeper than any event, and far below the depth at which a recursive reader fails. */
const MAX_DEPTH = 64;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Parsing and validating so many values takes about 10 ms; attributes may have 4,096. */
const MOST_VALUES = 16_384;
/** Bytes that are looked at in one go. */
const PIECE = 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const ESCAPE = 0x5c;
const OPENERS: readonly number[] = [0x5b, 0x7b];
const CLOSERS: readonly number[] = [0x5d, 0x7d];

/**
 * Checks nesting and number of values before anything is parsed, a piece at a time: other requests are served between
 * the pieces. Within strings, brackets and commas do not count. Every comma separates two values, and every array or
 * object is one.
 * @throws {ApiError} bad_request
 */
async function checkShape(json: Uint8Array, mostValues: number): Promise<void> {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let place = 0; place < json.length; ) {
    const end = Math.min(json.length, place + PIECE);
    for (; place < end; place += 1) {
      const byte = json[place]!;
      if (inString) {
        if (byte === ESCAPE) place += 1;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA) values += 1;
      else if (byte === OPENERS[0] || byte === OPENERS[1]) {
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH) throw new ApiError('bad_request', `body: is nested deeper than ${MAX_DEPTH} levels`);
      } else if (byte === CLOSERS[0] || byte === CLOSERS[1]) depth -= 1;
    }
    if (values > mostValues) throw new ApiError('bad_request', `body: has more than ${mostValues} values in all`);
    if (place < json.length) await nextTurn();
  }
}

/** True when an object in it has a member that would set a prototype if a program copied the members by assignment. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype);
}

/**
 * Parses JSON and ignores the content type (docs/design/interface.md#existing-clients).
 * @param mostValues maximum number of values: an array, an object and each of their members is one
 * @throws {ApiError} bad_request when it is not UTF-8 or not JSON, is too deep or has too many values, or has a member
 *   named __proto__
 */
export async function readJson(body: Uint8Array, mostValues = MOST_VALUES): Promise<unknown> {
  await checkShape(body, mostValues);
  const text = decode(body);
  const value = parse(text);
  // The name can also be written with escapes.
  if ((text.includes('__proto__') || text.includes('\\u00')) && namesPrototype(value))
    throw new ApiError('bad_request', 'body: must not have a member named __proto__');
  return value;
}

function decode(body: Uint8Array): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw new ApiError('bad_request', 'body: is not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('bad_request', text === '' ? 'body: is missing' : 'body: is not JSON');
  }
}
