import { setImmediate as nextTurn } from 'node:timers/promises';
import { readJsonText } from '../../core/vcon/json-document.js';
import { membersIn } from '../../core/vcon/json-members.js';
import { parseJson } from '../../core/vcon/parse-json.js';
import { ApiError } from '../errors.js';
import { inPieces } from '../in-pieces.js';
import { loopTurn } from '../loop-turn.js';

/** Deeper than any event, and far below the depth at which a recursive reader fails. */
const MAX_DEPTH = 64;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** A byte order mark is ignored only where the body begins. */
const INNER_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parsing and validating so many values takes about 20 ms. Each of an event's two sets of attributes may have 4,096. */
export const MOST_VALUES = 10_000;
/** Bytes that are looked at in one go. */
const PIECE = 256 * 1024;
/** A body of at most so many bytes is parsed in one go. */
const IN_ONE_GO = 128 * 1024;

/** Characters of a name that a refusal repeats. */
const MOST_NAMED = 128;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ESCAPE = 0x5c;
const OPENERS: readonly number[] = [0x5b, 0x7b];
const CLOSERS: readonly number[] = [0x5d, 0x7d];

/** A body of the form `{"name": [entry, …]}`: where its list begins, and where each of its entries ends. */
interface ListPlace {
  readonly first: number;
  readonly entries: readonly (Size & { readonly end: number })[];
}

interface Size {
  readonly values: number;
  /** Members of all its objects, as they are written. */
  readonly members: number;
}

/** Stands for an entry of a list that has too many values to be parsed. */
export class OversizedEntry {}

/**
 * Checks nesting and number of values before anything is parsed, a piece at a time: other requests are served between
 * the pieces. Within strings, brackets and commas do not count. Every comma separates two values, and every array or
 * object is one; every colon belongs to a member.
 * @returns the number of values and members, and the place of the body's only list; undefined for any other form
 * @throws {ApiError} bad_request
 */
async function checkShape(json: Uint8Array, mostValues: number) {
  let depth = 0;
  let values = 1;
  let members = 0;
  let inString = false;
  let lists = 0;
  let first = 0;
  let otherForm = false;
  let before: Size = { values: 0, members: 0 };
  const entries: (Size & { end: number })[] = [];
  const entryEnds = (end: number, valuesSoFar: number): void => {
    entries.push({ end, values: valuesSoFar - before.values, members: members - before.members });
    before = { values, members };
  };
  for (let place = 0; place < json.length; ) {
    const end = Math.min(json.length, place + PIECE);
    for (; place < end; place += 1) {
      const byte = json[place]!;
      if (inString) {
        if (byte === ESCAPE) place += 1;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA) {
        values += 1;
        if (depth === 2) entryEnds(place, values);
        else if (depth < 2) otherForm = true;
      } else if (byte === COLON) members += 1;
      else if (byte === OPENERS[0] || byte === OPENERS[1]) {
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH) throw new ApiError('bad_request', `body: is nested deeper than ${MAX_DEPTH} levels`);
        if (depth === 2) {
          lists += 1;
          first = place + 1;
          before = { values, members };
          otherForm ||= byte !== OPENERS[0];
        }
      } else if (byte === CLOSERS[0] || byte === CLOSERS[1]) {
        // No comma has counted the last entry.
        if (depth === 2) entryEnds(place, values + 1);
        depth -= 1;
      }
    }
    if (values > mostValues) throw new ApiError('bad_request', `body: has more than ${mostValues} values in all`);
    if (place < json.length) await nextTurn();
  }
  const list: ListPlace | undefined = otherForm || lists !== 1 ? undefined : { first, entries };
  return { values, members, list };
}

/** True when an object in it has a member that would set a prototype if a program copied the members by assignment. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype);
}

/**
 * Parses JSON and ignores the content type (docs/design/interface.md#existing-clients).
 * @param mostValues maximum number of values: an array, an object and each of their members is one. Above the usual
 *   maximum the body must have the form `{"name": [entry, …]}`, and an entry with more becomes an `OversizedEntry`
 * @throws {ApiError} bad_request when it is not UTF-8 or not JSON, is too deep or has too many values, has a member named
 *   __proto__, or a name twice in one object: readers differ in which value counts (RFC 7493 section 2.3)
 */
export async function readJson(body: Uint8Array, mostValues = MOST_VALUES): Promise<unknown> {
  if (body.length === 0) throw new ApiError('bad_request', 'body: is missing');
  const { values, members, list } = await checkShape(body, mostValues);
  if (body.length > IN_ONE_GO) await loopTurn();
  if (values <= MOST_VALUES && body.length <= IN_ONE_GO) return parsed(body, members);
  if (list && list.entries.length > 0) return readList(body, members, list);
  if (values <= MOST_VALUES) return parsed(body, members);
  throw new ApiError('bad_request', `body: has more than ${MOST_VALUES} values, and is not an object with one list`);
}

/** Parses the entries of the body's list one by one, with other requests served in between. */
async function readList(body: Uint8Array, members: number, { first, entries }: ListPlace): Promise<unknown> {
  const around = Buffer.concat([body.subarray(0, first), body.subarray(entries.at(-1)!.end)]);
  const whole = parsed(
    around,
    entries.reduce((rest, entry) => rest - entry.members, members),
  );
  const [name, ...others] = Object.keys(whole as object);
  if (Array.isArray(whole) || name === undefined || others.length > 0) return parsed(body, members);
  let begin = first;
  const read = await inPieces(entries, ({ end, values, members: own }) => {
    const entry = body.subarray(begin, end);
    begin = end + 1;
    if (entries.length === 1 && entry.every(isBlank)) return undefined;
    return values > MOST_VALUES ? new OversizedEntry() : parsed(entry, own, INNER_UTF8);
  });
  return { [name]: read.filter((entry) => entry !== undefined) };
}

/** The whitespace of JSON (RFC 8259 section 2). */
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** @param members how many are written; two of one name in an object become one */
function parsed(json: Uint8Array, members: number, decoder = UTF8): unknown {
  const text = decode(json, decoder);
  const value = parse(text);
  // The name can also be written with escapes.
  if ((text.includes('__proto__') || text.includes('\\u00')) && namesPrototype(value))
    throw new ApiError('bad_request', 'body: must not have a member named __proto__');
  if (membersIn(value) !== members) throw duplicate(text);
  return value;
}

function duplicate(text: string): ApiError {
  // To find the name takes longer than to parse.
  const name = text.length > IN_ONE_GO ? undefined : readJsonText(text).duplicateName?.slice(0, MOST_NAMED);
  const which = name === undefined ? 'a member' : `the member ${JSON.stringify(name)}`;
  return new ApiError('bad_request', `body: has ${which} twice in one object; send it once`);
}

function decode(body: Uint8Array, decoder: typeof UTF8): string {
  try {
    return decoder.decode(body);
  } catch {
    throw new ApiError('bad_request', 'body: is not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ApiError('bad_request', 'body: is not JSON');
  }
}
