import { createHash } from 'node:crypto';
import {
  isInteger,
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
  /** The index of its party, and the number of parties; absent if it names none of them, or they were not read. */
  readonly place?: { readonly party: number; readonly of: number } | undefined;
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

function placeOf(party: JsonValue | undefined, of: number): Pick<Consent, 'place'> {
  if (typeof party !== 'object' || party === null || isJsonList(party) || isJsonObject(party)) return {};
  const index = isInteger(party) ? Number(party.lexeme) : Number.NaN;
  return index >= 0 && index < of ? { place: { party: Math.abs(index), of } } : {};
}

function consentOf(attachment: JsonValue, parties: number): Consent | undefined {
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
  const place = placeOf(attachment.get('party'), parties);
  return { digest: sha256(text), granted: answered(true), ...(refused.length > 0 ? { refused } : {}), ...place };
}

/** Whether these are few enough to be compared. */
export function areComparable(consents: readonly Consent[]): boolean {
  const fits = (names: readonly string[] = []): boolean => names.length <= MAX_CONSENTS;
  return consents.length <= MAX_CONSENTS && consents.every(({ granted, refused }) => fits(granted) && fits(refused));
}

/** The consents in a vCon's attachments; undefined if they are too many to be compared. */
export function consentsOf(vcon: JsonObject): Consent[] | undefined {
  const [attachments, parties] = [vcon.get('attachments'), vcon.get('parties')];
  const of = isJsonList(parties) ? parties.length : 0;
  const consents: Consent[] = [];
  for (const attachment of isJsonList(attachments) ? attachments : []) {
    const consent = consentOf(attachment, of);
    if (consent) consents.push(consent);
    if (consents.length > MAX_CONSENTS) return undefined;
  }
  return areComparable(consents) ? consents : undefined;
}
