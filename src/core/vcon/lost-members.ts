// A form of a document proves nothing about a member that the conserver drops or overwrites on the way: a file in which
// that member says something else has the same form. These checks refuse the form instead.
import { withoutTrailing } from '../without-trailing.js';
import {
  ENTRY_RENAMES,
  fitsRedisInteger,
  isEmpty,
  REMOVED_IF_EMPTY,
  type Rename,
  STORED_VERSION,
  TEXT_BODIES,
  TEXT_ENCODING,
  VCON_RENAMES,
} from './conserver-forms.js';
import {
  isJsonList,
  isJsonObject,
  type JsonDocument,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
} from './json-document.js';
import { pythonFloat } from './python-json.js';

/** A part of this document would not be found in its form. The message names the part, never its value. */
export class LostMemberError extends Error {
  override readonly name = 'LostMemberError';
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;
const LISTS_OF_ENTRIES = ['dialog', 'analysis', 'attachments'] as const;

/** The significant digits and the power of ten of the last one: equal texts for equal numbers. */
function decimal(lexeme: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = NUMBER.exec(lexeme) ?? [];
  const digits = `${whole}${fraction}`;
  const significant = withoutTrailing(digits, '0');
  const value = significant.replace(/^0+/, '');
  return value === '' ? '0' : `${sign}${value}e${Number(power) - fraction.length + digits.length - significant.length}`;
}

function survivesAsDouble({ lexeme }: JsonNumber): boolean {
  const double = Number(lexeme);
  return Number.isFinite(double) && decimal(lexeme) === decimal(pythonFloat(double));
}

function everyNumber(value: JsonValue, holds: (number: JsonNumber) => boolean): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (isJsonList(value)) return value.every((member) => everyNumber(member, holds));
  if (!isJsonObject(value)) return holds(value as JsonNumber);
  for (const member of value.values()) if (!everyNumber(member, holds)) return false;
  return true;
}

function assertOneOfBoth(object: JsonObject, renames: readonly Rename[]): void {
  for (const [legacy, name] of renames)
    if (object.has(legacy) && object.has(name))
      throw new LostMemberError(`\`${legacy}\` stands beside \`${name}\`: the conserver drops \`${legacy}\``);
}

function entriesOf(vcon: JsonObject, list: string): readonly JsonObject[] {
  const entries = vcon.get(list);
  return isJsonList(entries) ? entries.filter(isJsonObject) : [];
}

/**
 * Checks that a document's canonical form (RFC 8785) has every digit of its numbers.
 * @throws {LostMemberError}
 */
export function assertDoublesKeep(document: JsonDocument): void {
  if (!everyNumber(document.value, survivesAsDouble))
    throw new LostMemberError('a number has more digits than a double keeps');
}

/**
 * Checks that a conserver finds every member of this document again after it was put into the store and read.
 * @throws {LostMemberError}
 */
export function assertReadKeeps(document: JsonDocument, vcon: JsonObject): void {
  if (document.duplicateName !== undefined)
    throw new LostMemberError('a name occurs twice in one object: the conserver keeps the last');
  if (!everyNumber(vcon, (number) => fitsRedisInteger(number) || survivesAsDouble(number)))
    throw new LostMemberError('a number has more digits than the conserver keeps');
  assertOneOfBoth(vcon, VCON_RENAMES);
  for (const list of LISTS_OF_ENTRIES) for (const entry of entriesOf(vcon, list)) assertOneOfBoth(entry, ENTRY_RENAMES);
}

/**
 * Checks that the API keeps every digit of a duration, which it writes as a float.
 * @throws {LostMemberError}
 */
export function assertSubmittedKeeps(vcon: JsonObject): void {
  for (const dialog of entriesOf(vcon, 'dialog'))
    if (!everyNumber(dialog.get('duration') ?? null, survivesAsDouble))
      throw new LostMemberError('`duration` has more digits than a double keeps');
}

/**
 * Checks that no member of this vCon is overwritten or removed when a link writes it back.
 * @throws {LostMemberError}
 */
export function assertStoreKeeps(vcon: JsonObject): void {
  const version = vcon.get('vcon');
  if (version !== undefined && version !== STORED_VERSION)
    throw new LostMemberError(`\`vcon\` is not ${STORED_VERSION}: the conserver overwrites it`);
  for (const name of REMOVED_IF_EMPTY)
    if (isEmpty(vcon.get(name))) throw new LostMemberError(`\`${name}\` is empty: the conserver removes it`);
  for (const list of TEXT_BODIES)
    for (const entry of entriesOf(vcon, list)) {
      const body = entry.get('body');
      if ((isJsonObject(body) || isJsonList(body)) && entry.has('encoding') && entry.get('encoding') !== TEXT_ENCODING)
        throw new LostMemberError(`\`encoding\` stands beside a body that is no text: the conserver overwrites it`);
    }
}
