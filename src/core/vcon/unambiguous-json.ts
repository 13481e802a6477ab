import { VerificationError } from '../errors.js';
import { utf8Text } from '../utf8-text.js';
import { JsonError, MAX_DEPTH } from './json-document.js';
import { membersIn, writtenShape } from './json-members.js';
import { parseJson } from './parse-json.js';

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof SyntaxError)) throw error;
    throw new VerificationError('malformed', 'it is not JSON');
  }
}

/**
 * Parses JSON that is evidence. Duplicate names in one object are refused, because readers differ in which value
 * counts.
 * @throws {VerificationError} `malformed`
 */
export function parseUnambiguousJson(text: string): unknown {
  const value = parse(text);
  const { members, depth } = writtenShape(text);
  if (depth > MAX_DEPTH) throw new VerificationError('malformed', 'the JSON is nested too deeply');
  if (membersIn(value) !== members)
    throw new VerificationError('malformed', 'the JSON has a duplicate name in one object');
  return value;
}

/**
 * Parses bytes in the same way. They must be UTF-8 without a byte order mark.
 * @throws {VerificationError} `malformed`
 */
export function parseUnambiguousBytes(bytes: Uint8Array): unknown {
  return parseUnambiguousJson(utf8Text(bytes));
}
