import { VerificationError } from './errors.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text that bytes are in UTF-8, a byte order mark included: readers differ in what they make of other bytes.
 * @throws {VerificationError} `malformed`
 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new VerificationError('malformed', 'a text is not UTF-8');
  }
}
