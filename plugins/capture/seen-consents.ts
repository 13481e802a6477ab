import { type Consent, consentName } from '../operation/consent.js';

/**
 * The consents to compare with those last seen: an earlier state may add some that were never seen, and takes none away.
 * @param before those last seen
 */
export function consentsNow(
  consents: readonly Consent[] | undefined,
  before: readonly Consent[],
  { pastConsents, late }: { readonly pastConsents: readonly string[]; readonly late: boolean },
) {
  if (!consents || !late) return consents;
  const seen = new Set([...pastConsents, ...before.map(consentName)]);
  return [...consents.filter((consent) => !seen.has(consentName(consent))), ...before];
}

const MOST_PAST = 1_000;

/** The names of consents that states before this one had, the newest last. */
export function pastConsentsOf(before: readonly Consent[], now: readonly Consent[], past: readonly string[]): string[] {
  const there = new Set(now.map(consentName));
  return [...new Set([...past, ...before.map(consentName)])].filter((name) => !there.has(name)).slice(-MOST_PAST);
}
