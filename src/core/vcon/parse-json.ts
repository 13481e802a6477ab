import { isJsonList, isJsonObject, type JsonValue, readJsonText } from './json-document.js';
import { writtenShape } from './json-members.js';

/**
 * Parses JSON as `JSON.parse` does, but with every name as it is written. V8 since 12.8 (Node 24, Chrome) can take a name
 * with an escape for another name that begins with a backslash and that anybody's JSON had before
 * (https://github.com/nodejs/node/issues/63785): a leaf or a record would have a name that nobody wrote. So texts with such
 * names are read without it.
 * @throws {SyntaxError} or {JsonError}
 */
export function parseJson(text: string): unknown {
  const isMisread = text.includes('\\') && writtenShape(text).hasEscapedNames;
  return isMisread ? plain(readJsonText(text).value) : JSON.parse(text);
}

/** The value as JavaScript has it. A member named `__proto__` is one like any other. */
function plain(value: JsonValue): unknown {
  if (isJsonList(value)) return value.map(plain);
  if (isJsonObject(value)) {
    const members = [...value].map(([name, member]) => [name, plain(member)] as const);
    return Object.fromEntries(members);
  }
  return typeof value === 'object' && value !== null ? Number(value.lexeme) : value;
}
