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
}

/** How consent changed between two states of a vCon. */
export interface ConsentChange {
  readonly operation: 'vcon_consent_accepted' | 'vcon_consent_revoked';
  /** Of the attachment that changes consent, or of the one that was removed. */
  readonly digest: string;
}

const BASIS = 'lawful_basis';

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
  const granted = (isJsonList(grants) ? grants : []).flatMap((grant) =>
    isJsonObject(grant) && grant.get('granted') === true
      ? [sha256(pythonJson([attachment.get('party') ?? null, grant.get('purpose') ?? null]))]
      : [],
  );
  return { digest: sha256(text), granted: [...new Set(granted)].sort() };
}

/** The consents in a vCon's attachments. */
export function consentsOf(attachments: JsonValue | undefined): Consent[] {
  if (!isJsonList(attachments)) return [];
  return attachments.flatMap((attachment) => consentOf(attachment) ?? []);
}

/**
 * Compares the consents of a vCon with those last seen. A new attachment that grants something accepts; a removed
 * grant, or a new attachment that grants nothing, revokes. An attachment that was only moved or re-serialised by the
 * store is the same.
 */
export function consentChanges(before: readonly Consent[], now: readonly Consent[]): ConsentChange[] {
  const known = new Set(before.map(({ digest }) => digest));
  const there = new Set(now.map(({ digest }) => digest));
  const granted = new Set(now.flatMap((consent) => consent.granted));
  const fresh = now.filter(({ digest }) => !known.has(digest));
  const lost = before.filter(
    (consent) => !there.has(consent.digest) && consent.granted.some((each) => !granted.has(each)),
  );
  const refusals = fresh.filter((consent) => consent.granted.length === 0);
  const accepted = fresh.filter((consent) => consent.granted.length > 0);
  // If an attachment that refuses replaces one that granted, the revocation refers to the new one.
  const revoked = refusals.length > 0 ? refusals : lost;
  return [
    ...revoked.map(({ digest }): ConsentChange => ({ operation: 'vcon_consent_revoked', digest })),
    ...accepted.map(({ digest }): ConsentChange => ({ operation: 'vcon_consent_accepted', digest })),
  ];
}
