import { utf8 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { JsonError, readJson } from '../vcon/json-document.js';

/**
 * Parses JSON that is evidence. A name that stands twice in one object is refused: readers differ in which one counts,
 * and a person reads both.
 * @throws {VerificationError} `malformed`
 */
export function parseUnambiguousJson(text: string): unknown {
  try {
    if (!readJson(utf8(text)).duplicateNames) return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof SyntaxError)) throw error;
    throw new VerificationError('malformed', 'it is not JSON that every reader agrees on');
  }
  throw new VerificationError('malformed', 'a name stands twice in one object of the JSON');
}
