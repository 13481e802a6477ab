import { createHash } from 'node:crypto';
import {
  isJsonList,
  isJsonObject,
  JsonError,
  type JsonObject,
  type JsonValue,
  readJson,
} from '../../src/core/vcon/json-document.js';
import { pythonJson } from '../../src/core/vcon/python-json.js';

/** One `lawful_basis` attachment that is based on consent (draft-howe-vcon-lawful-basis), only as digests. */
export interface Consent {
  /** Hex SHA-256 of the attachment's body as text. */
  readonly digest: string;
  /** Hex SHA-256 of party and purpose of each grant, sorted. */
  readonly granted: readonly string[];
  /** The same of what it refuses; absent if that is nothing. */
  readonly refused?: readonly string[] | undefined;
}

/** How consent changed between two states of a vCon. */
export interface ConsentChange {
  readonly operation: 'vcon_consent_accepted' | 'vcon_consent_revoked';
  /** Of the attachment that changes consent, or of the one that was removed. */
  readonly digest: string;
}

const BASIS = 'lawful_basis';
/** What a vCon with more consents, or with a consent to more purposes, says of them is not compared. */
const MAX_CONSENTS = 1_000;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A conserver turns a body into text when it first stores it; this must produce the same text. */
function bodyText(body: JsonValue | undefined): string {
  return typeof body === 'string' ? body : pythonJson(body ?? null);
}

function bodyObject(text: string): JsonObject | undefined {
  try {
    const { value } = readJson(Buffer.from(text));
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function consentOf(attachment: JsonValue): Consent | undefined {
  if (!isJsonObject(attachment)) return undefined;
  if (attachment.get('purpose') !== BASIS && attachment.get('type') !== BASIS) return undefined;
  const text = bodyText(attachment.get('body'));
  const body = bodyObject(text);
  if (body?.get(BASIS) !== 'consent') return undefined;
  const grants = body.get('purpose_grants');
  const answered = (answer: boolean): string[] => {
    const named = (isJsonList(grants) ? grants : []).flatMap((grant) =>
      isJsonObject(grant) && grant.get('granted') === answer
        ? [sha256(pythonJson([attachment.get('party') ?? null, grant.get('purpose') ?? null]))]
        : [],
    );
    return [...new Set(named)].sort();
  };
  const refused = answered(false);
  return { digest: sha256(text), granted: answered(true), ...(refused.length > 0 ? { refused } : {}) };
}

/** Whether these are few enough to be compared. */
export function areComparable(consents: readonly Consent[]): boolean {
  const fits = (names: readonly string[] = []): boolean => names.length <= MAX_CONSENTS;
  return consents.length <= MAX_CONSENTS && consents.every(({ granted, refused }) => fits(granted) && fits(refused));
}

/** The consents in a vCon's attachments; undefined if they are too many to be compared. */
export function consentsOf(attachments: JsonValue | undefined): Consent[] | undefined {
  const consents: Consent[] = [];
  for (const attachment of isJsonList(attachments) ? attachments : []) {
    const consent = consentOf(attachment);
    if (consent) consents.push(consent);
    if (consents.length > MAX_CONSENTS) return undefined;
  }
  return areComparable(consents) ? consents : undefined;
}

/** What tells one consent from another: equal bodies of two parties are two consents. */
export const consentName = ({ digest, granted }: Consent): string => [digest, ...granted].join(' ');

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
 * attachment that was only moved or re-serialised by the store is the same.
 */
export function consentChanges(before: readonly Consent[], now: readonly Consent[]): ConsentChange[] {
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
