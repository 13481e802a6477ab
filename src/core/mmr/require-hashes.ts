import { type VerificationCode, VerificationError } from '../errors.js';

/** No tree of 64-bit positions is higher; a longer path cannot be one. */
const MOST = 64;

/**
 * Refuses a list of hashes from outside that is too long, or holds anything but 32 bytes: hashed side by side, parts of
 * another length would let one preimage be read in two ways.
 * @throws {VerificationError} with the given code
 */
export function requireHashes(code: VerificationCode, what: string, hashes: readonly Uint8Array[]): void {
  if (hashes.length > MOST) throw new VerificationError(code, `${what} has more than ${MOST} hashes`);
  if (hashes.some((hash) => hash.length !== 32))
    throw new VerificationError(code, `${what} has a hash that is not 32 bytes`);
}
