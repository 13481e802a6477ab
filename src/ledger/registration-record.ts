import { toHex, utf8 } from '../core/bytes.js';
import { nodeSha256 } from '../platform/node-sha256.js';

/** The event attribute through which the log covers how a statement was registered. */
export const REGISTRATION_RECORD_ATTRIBUTE = 'registration_record_sha256';

/**
 * SHA-256, in hex, of how a statement was registered: the digest of the policy and how the signer's key was found, as
 * JSON with sorted members. The registration's row can be changed; the event that carries this hash cannot.
 */
export function registrationRecordHash(record: {
  readonly policyDigest: Uint8Array;
  readonly keyResolution: Readonly<Record<string, string>>;
}): string {
  const members = Object.entries(record.keyResolution).sort(([left], [right]) => (left < right ? -1 : 1));
  return toHex(
    nodeSha256(utf8(JSON.stringify({ policy_sha256: toHex(record.policyDigest), key_resolution: members }))),
  );
}
