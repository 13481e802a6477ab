import { isPlainText } from '../../platform/plain-text.js';
import type { ClaimNames } from './identity-provider.js';

/** The person that the claims of a token describe. */
interface ClaimedPerson {
  /** A verified address; undefined if the claims have none. */
  readonly email: string | undefined;
  readonly displayName: string | undefined;
  readonly groups: readonly string[];
}

const MAX_TEXT = 320;
const MAX_GROUPS = 500;

/**
 * Reads the claims under a tenancy's names for them. An address counts only if it is marked as verified; an unverified
 * address makes the claims unusable.
 * @throws {Error} for an address without verification, or one marked as unverified
 */
export function readClaims(claims: Readonly<Record<string, unknown>>, names: ClaimNames): ClaimedPerson {
  const email = text(claims[names.email]);
  const verified = claims[names.email_verified];
  const isVerified = verified === true || verified === 'true';
  if (!isVerified && (email !== undefined || verified !== undefined)) throw new Error('the address is not verified');
  return { email, displayName: text(claims[names.display_name]), groups: groupsOf(claims[names.groups]) };
}

/** A list of names; any other value means no groups. */
function groupsOf(claim: unknown): string[] {
  if (!Array.isArray(claim)) return [];
  return claim.slice(0, MAX_GROUPS).flatMap((each) => text(each) ?? []);
}

function text(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' && claim.length <= MAX_TEXT && isPlainText(claim)
    ? claim
    : undefined;
}
