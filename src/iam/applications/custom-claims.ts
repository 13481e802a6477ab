import { z } from 'zod';
import { plainText } from '../../platform/plain-text.js';

const MAX_CLAIMS = 32;
const MAX_NAME = 64;
const MAX_VALUE = 256;
/** Of all claims as JSON: with them, a token still fits into a header of 8 KiB, which is what common servers accept. */
const MAX_BYTES = 4096;

/** Prefixes of the service's own claims: custom claims must not begin with them. */
const OWN_PREFIXES = ['jit_', 'arc_'];

/**
 * Claims with a defined meaning for readers of tokens: RFC 7519 4.1, RFC 9068 2.2, RFC 8693 4, RFC 7800 3.1, and OpenID
 * Connect Core 1.0 sections 2 and 5.1.
 */
const REGISTERED: ReadonlySet<string> = new Set(
  `iss sub aud exp nbf iat jti client_id scope roles groups entitlements auth_time acr amr azp nonce at_hash c_hash
   act may_act cnf sid events name given_name family_name middle_name nickname preferred_username profile picture website
   email email_verified gender birthdate zoneinfo locale phone_number phone_number_verified address updated_at`.split(
    /\s+/,
  ),
);

/** True for a name that a custom claim must not have. */
export function isReservedClaim(name: string): boolean {
  return REGISTERED.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

const claimName = plainText(MAX_NAME)
  .min(1)
  .refine((name) => !isReservedClaim(name), 'is a reserved claim; choose another name');

/** `custom_claims` of an application (docs/design/interface.md#applications). */
export const customClaimsSchema = z
  .record(claimName, plainText(MAX_VALUE))
  .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, `must hold at most ${MAX_CLAIMS} claims`)
  .refine(
    (claims) => Buffer.byteLength(JSON.stringify(claims)) <= MAX_BYTES,
    `must have at most ${MAX_BYTES} bytes as JSON: a token with more is too long for a header`,
  );
