import type { Consent } from './consent.js';

/** How consent changed between two states of a vCon. */
export interface ConsentChange {
  readonly operation: 'vcon_consent_accepted' | 'vcon_consent_revoked';
  /** Of the attachment that changes consent, or of the one that was removed. */
  readonly digest: string;
}

/** What tells one consent from another: equal bodies of two parties are two consents. */
export const consentName = ({ digest, granted }: Consent): string => [digest, ...granted].join(' ');

/** Those whose place is known by the digest of their words, in the order of their parties. */
function byWords(consents: readonly Consent[]): Map<string, Consent[]> {
  const groups = new Map<string, Consent[]>();
  const placed = consents.filter(({ place }) => place !== undefined);
  for (const consent of placed.sort((a, b) => a.place!.party - b.place!.party))
    groups.set(consent.digest, [...(groups.get(consent.digest) ?? []), consent]);
  return groups;
}

/** How far the place of a consent is outside of where the parties that were added or removed can have moved it; else 0. */
function beyond({ place: from }: Consent, { place: to }: Consent): number {
  const [shift, added] = [to!.party - from!.party, to!.of - from!.of];
  if (shift < Math.min(0, added)) return shift - Math.min(0, added);
  return Math.max(0, shift - Math.max(0, added));
}

/**
 * Consents as they are told now: those in the same words whose party has another index because parties were added or
 * removed, which keeps their order. While there are as many parties as before, another index is another party.
 */
export function moved(before: readonly Consent[], now: readonly Consent[]): readonly Consent[] {
  const nowByWords = byWords(now);
  const same = new Map<Consent, Consent>();
  for (const [digest, group] of byWords(before)) {
    const candidates = nowByWords.get(digest) ?? [];
    let at = 0;
    for (const consent of group) {
      while (at < candidates.length && beyond(consent, candidates[at]!) < 0) at += 1;
      if (at < candidates.length && beyond(consent, candidates[at]!) === 0) same.set(consent, candidates[at++]!);
    }
  }
  return before.map((consent) => same.get(consent) ?? consent);
}

/** The grants that no later attachment refuses, each with the attachment that gives it. */
function standing(consents: readonly Consent[]): Map<string, Consent> {
  const grants = new Map<string, Consent>();
  for (const consent of consents) {
    for (const grant of consent.granted) grants.set(grant, consent);
    for (const grant of consent.refused ?? []) grants.delete(grant);
  }
  return grants;
}

/**
 * Compares the consents of a vCon with those last seen. A new attachment that grants something accepts. A grant that stood
 * and is gone, or that a new attachment refuses, is revoked; a refusal of what was never granted changes nothing. An
 * attachment that was only moved or re-serialised by the store is the same, also where its party has another index because
 * parties were added or removed.
 */
export function consentChanges(seen: readonly Consent[], now: readonly Consent[]): ConsentChange[] {
  const before = moved(seen, now);
  const known = new Set(before.map(consentName));
  const fresh = now.filter((consent) => !known.has(consentName(consent)));
  const accepted = fresh.filter((consent) => consent.granted.length > 0);
  const granted = new Set(now.flatMap((consent) => consent.granted));
  const grantedAnew = new Set(accepted.flatMap((consent) => consent.granted));
  // The last that refuses it.
  const refusals = new Map(
    fresh.flatMap(({ digest, refused = [] }) => refused.map((grant) => [grant, digest] as const)),
  );
  const revoked = new Set<string>();
  for (const [grant, { digest }] of standing(before)) {
    if (grantedAnew.has(grant)) continue;
    const refusal = refusals.get(grant);
    // The revocation refers to the attachment that refuses, if there is one.
    if (refusal) revoked.add(refusal);
    else if (!granted.has(grant)) revoked.add(digest);
  }
  return [
    ...Array.from(revoked, (digest): ConsentChange => ({ operation: 'vcon_consent_revoked', digest })),
    ...accepted.map(({ digest }): ConsentChange => ({ operation: 'vcon_consent_accepted', digest })),
  ];
}
