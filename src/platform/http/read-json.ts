import { ApiError } from '../errors.js';

/** Deeper than any event, and far below the depth at which a recursive reader fails. */
const MAX_DEPTH = 64;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const ESCAPE = 0x5c;
const OPENERS: readonly number[] = [0x5b, 0x7b];
const CLOSERS: readonly number[] = [0x5d, 0x7d];

/** How deep arrays and objects are nested; brackets within strings do not count. */
function depthOf(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let place = 0; place < json.length; place += 1) {
    const byte = json[place]!;
    if (inString) {
      if (byte === ESCAPE) place += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPENERS[0] || byte === OPENERS[1]) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSERS[0] || byte === CLOSERS[1]) depth -= 1;
  }
  return deepest;
}

/** True when an object in it has a member that would set a prototype if a program copied the members by assignment. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype);
}

/**
 * Parses JSON and ignores the content type (docs/design/interface.md#existing-clients).
 * @throws {ApiError} bad_request when it is not UTF-8 or not JSON, too deep, or has a member named __proto__
 */
export function readJson(body: Uint8Array): unknown {
  if (depthOf(body) > MAX_DEPTH) throw new ApiError('bad_request', `body: is nested deeper than ${MAX_DEPTH} levels`);
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
