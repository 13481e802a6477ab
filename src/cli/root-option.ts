import { UsageError } from '../core/evidence/usage-error.js';
import { FingerprintError, parseRootFingerprint } from '../core/keys/root-fingerprint.js';

/** Returns the thumbprint of the root key that `--root` names. @throws {UsageError} */
export function rootThumbprint(fingerprint: string): Uint8Array {
  try {
    return parseRootFingerprint(fingerprint);
  } catch (error) {
    if (error instanceof FingerprintError) throw new UsageError(`--root: ${error.message}`);
    throw error;
  }
}
