import { equalBytes } from '../core/bytes.js';
import { VerificationError } from '../core/errors.js';
import type { KeyManifest } from '../core/keys/key-manifest.js';

/** A manifest and its own bytes, without those that came before it in its file. */
interface Manifest {
  readonly manifest: KeyManifest;
  readonly bytes: Uint8Array;
}

/**
 * Checks that a manifest is not older than one that was seen: a manifest that was seen is never taken back.
 * @throws {VerificationError} `manifest_older`; `manifest_invalid` for another manifest of the same number, or of another
 *   deployment
 */
export function checkNotBefore(given: Manifest, seen: Manifest): void {
  const [{ number, subject }, before] = [given.manifest, seen.manifest];
  if (subject !== before.subject)
    throw new VerificationError(
      'manifest_invalid',
      `the key manifest is of the keys log ${subject}, the one that was seen before is of ${before.subject}`,
    );
  if (number < before.number)
    throw new VerificationError(
      'manifest_older',
      `key manifest ${number} was given, and number ${before.number} was seen before: give the newest`,
    );
  if (number === before.number && !equalBytes(given.bytes, seen.bytes))
    throw new VerificationError('manifest_invalid', `the root key has signed two key manifests ${number}`);
}
