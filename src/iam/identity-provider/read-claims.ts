import { isPlainText } from '../../platform/plain-text.js';
import type { ClaimNames } from './identity-provider.js';

/** Who the claims of a token say that somebody is. */
export interface ClaimedPerson {
  /** A verified address; undefined when the claims hold none. */
  readonly email: string | undefined;
  readonly displayName: string | undefined;
  readonly groups: readonly string[];
}

const MAX_TEXT = 320;
const MAX_GROUPS = 500;

/**
 * Reads the claims under a tenancy's names for them. An address counts only when it is said to be verified; one that is
 * not makes the claims unusable.
 * @throws {Error} for an address without verification, or a verification that is denied
 */
export function readClaims(claims: Readonly<Record<string, unknown>>, names: ClaimNames): ClaimedPerson {
  const email = text(claims[names.email]);
  const verified = claims[names.email_verified];
  const isVerified = verified === true || verified === 'true';
  if (!isVerified && (email !== undefined || verified !== undefined)) throw new Error('the address is not verified');
  return { email, displayName: text(claims[names.display_name]), groups: groupsOf(claims[names.groups]) };
}

/** A list of names; anything else is no group. */
function groupsOf(claim: unknown): string[] {
  if (!Array.isArray(claim)) return [];
  return claim.slice(0, MAX_GROUPS).flatMap((each) => text(each) ?? []);
}

function text(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' && claim.length <= MAX_TEXT && isPlainText(claim)
    ? claim
    : undefined;
}
