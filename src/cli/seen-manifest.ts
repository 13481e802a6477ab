import { VerificationError } from '../core/errors.js';
import type { ReadKeyManifest } from '../core/keys/read-key-manifest.js';
import { checkFollows, requireSame, type TrustedKeyManifest } from '../core/keys/verify-key-manifests.js';
import { sha256 } from '../core/sha256.js';

/**
 * Checks that manifests go on from one that was seen: a manifest that was seen is never taken back.
 * @param given one history in rising order; the last is the newest
 * @throws {VerificationError} `manifest_older`; `manifest_invalid` for another manifest of the same number, one that does
 *   not follow it, or one of another deployment
 */
export function checkNotBefore(
  given: readonly TrustedKeyManifest[],
  seen: Pick<ReadKeyManifest, 'manifest' | 'bytes'>,
): void {
  const newest = given.at(-1)!.manifest;
  const { number, subject } = seen.manifest;
  if (newest.subject !== subject)
    throw new VerificationError(
      'manifest_invalid',
      `the key manifest is of the keys log ${newest.subject}, the one that was seen before is of ${subject}`,
    );
  if (newest.number < number)
    throw new VerificationError(
      'manifest_older',
      `key manifest ${newest.number} was given, and number ${number} was seen before: give the newest`,
    );
  const same = given.find((each) => each.manifest.number === number);
  if (same) requireSame(same, seen);
  const next = given.find((each) => each.manifest.number > number);
  if (next) checkFollows(next, { manifest: seen.manifest, hash: sha256(seen.bytes) });
}
