import { VerificationError } from './errors.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Returns the text of UTF-8 bytes, including a byte order mark. Other bytes are refused, because readers differ in how
 * they replace them.
 * @throws {VerificationError} `malformed`
 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new VerificationError('malformed', 'a text is not UTF-8');
  }
}
