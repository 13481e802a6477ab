// What a conserver does to a vCon between its store and the document that a link sees. docs/formats/vcon-forms.md has it all.
import {
  isInteger,
  isJsonList,
  isJsonObject,
  type JsonDocument,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
} from './json-document.js';
import { pythonFloat, pythonJson } from './python-json.js';

/** A conserver cannot hold this document. The message says why. */
export class NotStorableError extends Error {
  override readonly name = 'NotStorableError';
}

/** RedisJSON's limit of nesting. */
const MAX_DEPTH = 128;
const LEAST_INTEGER = -(2n ** 63n);
const MOST_INTEGER = 2n ** 64n - 1n;
/** No integer that fits 64 bits has more characters; longer ones are not worth a BigInt. */
const LONGEST_INTEGER = 20;
/** What a conserver writes into `vcon` whenever it stores. */
export const STORED_VERSION = '0.4.0';
/** Members of the vCon that are removed when they are empty as it is stored. */
export const REMOVED_IF_EMPTY = ['group', 'redacted'] as const;
/** What `encoding` says of a body that was turned into text. */
export const TEXT_ENCODING = 'json';
/** Lists whose entries' bodies become text as the vCon is stored. */
export const TEXT_BODIES = ['analysis', 'attachments'] as const;

/** A legacy name and the one that replaced it. */
export type Rename = readonly [legacy: string, name: string];

/** Members of the vCon itself that a conserver renames as it reads. */
export const VCON_RENAMES: readonly Rename[] = [
  ['appended', 'amended'],
  ['must_support', 'critical'],
];
/** The same for the entries of dialog, analysis and attachments. */
export const ENTRY_RENAMES: readonly Rename[] = [
  ['schema_version', 'schema'],
  ['mimetype', 'mediatype'],
  ['must_support', 'critical'],
];

/** Returns whether RedisJSON stores a number as an integer. */
export function fitsRedisInteger(value: JsonNumber): boolean {
  const { lexeme } = value;
  if (!isInteger(value) || lexeme.length > LONGEST_INTEGER || lexeme === '-0') return false;
  const exact = BigInt(lexeme);
  return exact >= LEAST_INTEGER && exact <= MOST_INTEGER;
}

function storedNumber(value: JsonNumber): JsonNumber {
  if (fitsRedisInteger(value)) return value;
  const double = Number(value.lexeme);
  if (!Number.isFinite(double)) throw new NotStorableError('a number is too large for a double');
  return { lexeme: pythonFloat(double) };
}

function storedText(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new NotStorableError('a text has a lone surrogate');
  return text;
}

function mapMembers(object: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return new Map(Array.from(object, ([name, value]) => [storedText(name), change(value)] as const));
}

/** Integers of 64 bits stay, others become doubles, and so does -0. */
function throughRedisJson(value: JsonValue): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return storedText(value);
  if (isJsonList(value)) return value.map(throughRedisJson);
  return isJsonObject(value) ? mapMembers(value, throughRedisJson) : storedNumber(value);
}

/** A renamed member goes to the end of its object; where the new name is there already, the old member is dropped. */
function renamed(object: JsonObject, names: readonly Rename[]): Map<string, JsonValue> {
  const members = new Map(object);
  for (const [legacy, name] of names) {
    const value = members.get(legacy);
    if (value === undefined) continue;
    members.delete(legacy);
    if (!members.has(name)) members.set(name, value);
  }
  return members;
}

function withEntries(vcon: Map<string, JsonValue>, list: string, change: (entry: JsonObject) => JsonValue): void {
  const entries = vcon.get(list);
  if (isJsonList(entries))
    vcon.set(
      list,
      entries.map((entry) => (isJsonObject(entry) ? change(entry) : entry)),
    );
}

function renamedAttachment(entry: JsonObject): JsonObject {
  const members = renamed(entry, ENTRY_RENAMES);
  return members.has('purpose') ? members : renamed(members, [['type', 'purpose']]);
}

/**
 * Returns the vCon of a document that a conserver's store can hold.
 * @throws {NotStorableError}
 */
export function storable(document: JsonDocument): JsonObject {
  if (!isJsonObject(document.value)) throw new NotStorableError('it is not an object');
  if (document.depth > MAX_DEPTH) throw new NotStorableError(`it is nested deeper than ${MAX_DEPTH} levels`);
  return document.value;
}

/**
 * Returns what a link reads when this vCon lies in the conserver's store: numbers as RedisJSON keeps them, legacy members
 * renamed.
 * @throws {NotStorableError}
 */
export function asRead(stored: JsonObject): JsonObject {
  const vcon = renamed(mapMembers(stored, throughRedisJson), VCON_RENAMES);
  for (const list of ['dialog', 'analysis']) withEntries(vcon, list, (entry) => renamed(entry, ENTRY_RENAMES));
  withEntries(vcon, 'attachments', renamedAttachment);
  return vcon;
}

function withTextBody(entry: JsonObject): JsonObject {
  const body = entry.get('body');
  if (!isJsonObject(body) && !isJsonList(body)) return entry;
  return new Map(entry).set('body', pythonJson(body)).set('encoding', TEXT_ENCODING);
}

/** Returns whether a value is a list or an object without members. */
export function isEmpty(value: JsonValue | undefined): boolean {
  return (isJsonList(value) && value.length === 0) || (isJsonObject(value) && value.size === 0);
}

/**
 * Returns the vCon after a link has written it back: the version overwritten, empty `group` and `redacted` removed, bodies
 * of analyses and attachments turned into text.
 * @param read what `asRead` returned
 * @throws {NotStorableError} when it has no uuid to be stored under
 */
export function asStored(read: JsonObject): JsonObject {
  if (!read.has('uuid')) throw new NotStorableError('it has no uuid');
  const vcon = new Map(read).set('vcon', STORED_VERSION);
  for (const name of REMOVED_IF_EMPTY) if (isEmpty(vcon.get(name))) vcon.delete(name);
  for (const list of TEXT_BODIES) withEntries(vcon, list, withTextBody);
  return vcon;
}
