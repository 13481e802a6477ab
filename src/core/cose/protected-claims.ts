import { VerificationError } from '../errors.js';
import type { CborMap } from './cbor.js';
import { equalCbor } from './equal-cbor.js';
import { Claim, Header } from './labels.js';

const NAMING_CLAIMS = [Claim.issuer, Claim.subject, Claim.confirmation] as const;

/**
 * Returns the claims of a protected header, at label 15 or, from before RFC 9597, at 13; undefined if neither is a map.
 * If both are maps, issuer, subject and confirmation must agree, because readers differ in which of the two they read.
 * @throws {VerificationError} `malformed`
 */
export function protectedClaims(header: CborMap): CborMap | undefined {
  const [claims, drafted] = [header.get(Header.claims), header.get(Header.draftClaims)];
  if (claims instanceof Map && drafted instanceof Map)
    for (const label of NAMING_CLAIMS) {
      const [said, draftSaid] = [claims.get(label), drafted.get(label)];
      if (said === undefined || draftSaid === undefined || equalCbor(said, draftSaid)) continue;
      throw new VerificationError('malformed', 'the claims at 13 and at 15 contradict each other');
    }
  const read = claims ?? drafted;
  return read instanceof Map ? read : undefined;
}
