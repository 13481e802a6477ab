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

/**
 * The same of bytes, which must be UTF-8 without a byte order mark: readers differ in what they make of other bytes.
 * @throws {VerificationError} `malformed`
 */
export function parseUnambiguousBytes(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new VerificationError('malformed', 'it is not UTF-8');
  }
  return parseUnambiguousJson(text);
}
