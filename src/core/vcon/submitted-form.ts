// What a conserver's API does to a vCon that is posted to it (`POST /vcon`), before it lies in the store.
import { withoutTrailing } from '../without-trailing.js';
import { isEmpty, NotStorableError } from './conserver-forms.js';
import {
  isInteger,
  isJsonList,
  isJsonObject,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
} from './json-document.js';
import { pythonFloat, pythonJson } from './python-json.js';

/**
 * How the API takes parties and dialogs: `plain` keeps them as they came; `modelled`, since 2026, writes the members that
 * its model knows first, with null for each that is absent.
 */
type SubmittedEntries = 'modelled' | 'plain';

type Members = ReadonlyMap<string, (value: JsonValue | undefined) => JsonValue>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** RFC 3339; a time without an offset is accepted too, and stays one. */
const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?$/;
const MICROSECOND_DIGITS = 6;

function refused(name: string, wanted: string): NotStorableError {
  return new NotStorableError(`the conserver's API accepts ${name} only as ${wanted}`);
}

function text(name: string) {
  return (value: JsonValue | undefined): JsonValue => {
    if (typeof value !== 'string') throw refused(name, 'a text');
    return value;
  };
}

function textOrNull(name: string) {
  return (value: JsonValue | undefined): JsonValue =>
    value === undefined || value === null ? null : text(name)(value);
}

function object(name: string) {
  return (value: JsonValue | undefined): JsonValue => {
    if (value === undefined) return new Map();
    if (!isJsonObject(value)) throw refused(name, 'an object');
    return value;
  };
}

function objects(name: string, change: (entry: JsonObject) => JsonObject = (entry) => entry) {
  return (value: JsonValue | undefined): JsonValue => {
    if (value === undefined) return [];
    if (!isJsonList(value) || !value.every(isJsonObject)) throw refused(name, 'a list of objects');
    return value.map((entry) => change(entry as JsonObject));
  };
}

function lowerCaseUuid(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string' || !UUID.test(value)) throw refused('uuid', 'a UUID with hyphens');
  return value.toLowerCase();
}

/** Python's isoformat of the same time: an offset for Z, microseconds only where there are any. */
function isoTime(value: JsonValue | undefined): JsonValue {
  const [, date, time, fraction = '', offset = ''] = (typeof value === 'string' && TIME.exec(value)) || [];
  // RFC 3339 gives -00:00 a meaning of its own, which the API drops.
  if (!date || !time || offset === '-00:00') throw refused('created_at', 'a date and time of RFC 3339');
  const digits = withoutTrailing(fraction, '0');
  if (digits.length > MICROSECOND_DIGITS)
    throw new NotStorableError('the API drops what created_at has below a microsecond');
  const microseconds = digits === '' ? '' : `.${digits.padEnd(MICROSECOND_DIGITS, '0')}`;
  return `${date}T${time}${microseconds}${/^z$/i.test(offset) ? '+00:00' : offset}`;
}

function floatOrNull(value: JsonValue | undefined): JsonValue {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || isJsonList(value) || isJsonObject(value)) throw refused('duration', 'a number');
  const double = Number((value as JsonNumber).lexeme);
  if (!Number.isFinite(double)) throw new NotStorableError('a number is too large for a double');
  return { lexeme: pythonFloat(double) };
}

const asItIs = (value: JsonValue | undefined): JsonValue => value ?? null;

const NULL_IF_ABSENT = new Set(['subject', 'appended']);
const EMPTY_IF_ABSENT = new Set(['redacted', 'group']);
const PARTY: Members = new Map([['tel', textOrNull('tel')]]);
const DIALOG: Members = new Map([
  ['duration', floatOrNull],
  ['start', textOrNull('start')],
  ['parties', asItIs],
  ['url', textOrNull('url')],
  ['mimetype', textOrNull('mimetype')],
  ['alg', textOrNull('alg')],
]);

/** The members that a model knows, in its order, then the others in theirs. */
function modelled(model: Members, given: JsonObject): JsonObject {
  const members = new Map<string, JsonValue>();
  for (const [name, write] of model) members.set(name, write(given.get(name)));
  for (const [name, value] of given) if (!model.has(name)) members.set(name, value);
  return members;
}

function vconModel(entries: SubmittedEntries): Members {
  const entry = (model: Members) =>
    entries === 'modelled' ? (given: JsonObject) => modelled(model, given) : undefined;
  return new Map([
    ['vcon', text('vcon')],
    ['uuid', lowerCaseUuid],
    ['created_at', isoTime],
    ['subject', textOrNull('subject')],
    ['redacted', object('redacted')],
    ['appended', (value) => (value === undefined || value === null ? null : object('appended')(value))],
    ['group', objects('group')],
    ['parties', objects('parties', entry(PARTY))],
    ['dialog', objects('dialog', entry(DIALOG))],
    ['analysis', objects('analysis')],
    ['attachments', objects('attachments')],
  ]);
}

/** Removes the members that the API adds when they are absent. */
function withoutDefaults(vcon: JsonObject, entries: SubmittedEntries): JsonObject {
  const isDefault = (name: string, value: JsonValue) =>
    value === null ? NULL_IF_ABSENT.has(name) : EMPTY_IF_ABSENT.has(name) && isEmpty(value);
  const stripped = new Map([...vcon].filter(([name, value]) => !isDefault(name, value)));
  if (entries === 'plain') return stripped;
  for (const [list, model] of [
    ['parties', PARTY],
    ['dialog', DIALOG],
  ] as const) {
    const given = stripped.get(list);
    if (!isJsonList(given)) continue;
    const withoutNulls = (entry: JsonObject) =>
      new Map([...entry].filter(([name, value]) => value !== null || !model.has(name)));
    stripped.set(
      list,
      given.map((entry) => (isJsonObject(entry) ? withoutNulls(entry) : entry)),
    );
  }
  return stripped;
}

/** As Python reads numbers: its integers have no negative zero. */
function throughPython(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.map(throughPython);
  if (isJsonObject(value))
    return new Map(Array.from(value, ([name, member]) => [name, throughPython(member)] as const));
  const isNumber = typeof value === 'object' && value !== null;
  return isNumber && isInteger(value as JsonNumber) && (value as JsonNumber).lexeme === '-0' ? { lexeme: '0' } : value;
}

/**
 * Returns what lies in the conserver's store after this vCon was posted to its API: the members of the model first and in
 * its order, those that were absent added as null or empty, `created_at` with an offset, durations as floats.
 * @throws {NotStorableError} where the API refuses the vCon, or would drop a part of it
 */
export function asSubmitted(vcon: JsonObject, entries: SubmittedEntries): JsonObject {
  return modelled(vconModel(entries), throughPython(vcon) as JsonObject);
}

/**
 * Returns what a submitter may have posted, when this vCon is exactly what the API makes of it and answers; otherwise the
 * vCon itself. What the API added says nothing, so a conserver may drop it again.
 */
export function withoutAdded(vcon: JsonObject): JsonObject {
  for (const entries of ['modelled', 'plain'] as const) {
    const submitted = withoutDefaults(vcon, entries);
    try {
      if (pythonJson(asSubmitted(submitted, entries)) === pythonJson(vcon)) return submitted;
    } catch (error) {
      if (!(error instanceof NotStorableError)) throw error;
    }
  }
  return vcon;
}
