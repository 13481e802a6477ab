import { VerificationError } from '../errors.js';
import { JsonError, readJsonText } from '../vcon/json-document.js';

/**
 * Parses JSON that is evidence. Duplicate names in one object are refused, because readers differ in which value
 * counts.
 * @throws {VerificationError} `malformed`
 */
export function parseUnambiguousJson(text: string): unknown {
  try {
    if (readJsonText(text).duplicateName === undefined) return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof SyntaxError)) throw error;
    throw new VerificationError('malformed', 'it is not unambiguous JSON');
  }
  throw new VerificationError('malformed', 'the JSON has a duplicate name in one object');
}
