import { createHash } from 'node:crypto';
import { isJsonObject, JsonError, type JsonValue, readJson } from '../../src/core/vcon/json-document.js';
import { inspectVcon, type VconForm, type VconInspection } from '../../src/core/vcon/vcon-form.js';
import { jcsHash } from '../../src/core/vcon/vcon-hash.js';
import { type Consent, consentsOf } from './consent.js';
import { type SkimmedObject, skimJson } from './skim-json.js';
import { vconTexts } from './vcon-texts.js';

/** All that is stored of a vCon: digests and labels, nothing of the conversation. */
export interface VconFacts {
  /** Hex SHA-256 of the bytes, the conserver's own `Vcon.hash`. */
  readonly payload: string;
  /** Undefined if only the hash of the bytes is known. */
  readonly form?: VconForm;
  /** In lower case. */
  readonly uuid?: string;
  /** Times of the form of RFC 3339, as they stand in the vCon. */
  readonly updatedAt?: string;
  readonly createdAt?: string;
  /** A version, or `unknown` for any other text. */
  readonly vconMember?: string;
  readonly jcs?: { readonly hash: string; readonly lossy: boolean };
  readonly innermostPayloadHash?: string;
  /** UUID of the vCon that this one amends or redacts. */
  readonly amended?: string;
  readonly redacted?: string;
  /** Undefined if they could not be read, or are too many to be compared. */
  readonly consents?: readonly Consent[];
  /** Too large to be read within the time of a request: only its top-level members were read. */
  readonly skimmed?: true;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Below this size, reading is faster than skimming first. */
const SMALL_BYTES = 256 * 1024;
/** This many tokens are read, and written in canonical form, in a fraction of a second. */
const READABLE_TOKENS = 400_000;
/** A recording has few tokens, but must still be decoded and written in canonical form. */
const READABLE_BYTES = 24 * 1024 * 1024;
/** Bytes that are hashed before yielding to the event loop. */
const HASHED_BYTES = 4 * 1024 * 1024;
/** A signed payload is read as a document of its own. */
const READABLE_PAYLOAD_BYTES = 4 * 1024 * 1024;
/** Members that are read of a skimmed vCon, and their maximum length. */
const SKIMMED_MEMBERS = [
  'uuid',
  'vcon',
  'created_at',
  'updated_at',
  'amended',
  'redacted',
  'signatures',
  'unprotected',
];
/** Members of which only it is seen whether they are lists. */
const LISTS = ['parties', 'dialog', 'analysis', 'attachments'];
const READABLE_MEMBER_BYTES = 64 * 1024;
const READABLE_ATTACHMENTS_BYTES = 2 * 1024 * 1024;

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

async function hashInTurns(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += HASHED_BYTES) {
    if (from > 0) await new Promise((resume) => setImmediate(resume));
    hash.update(bytes.subarray(from, from + HASHED_BYTES));
  }
  return hash.digest('hex');
}

function predecessor(vcon: JsonValue, name: string): string | undefined {
  const reference = isJsonObject(vcon) ? vcon.get(name) : undefined;
  const uuid = isJsonObject(reference) ? reference.get('uuid') : undefined;
  return typeof uuid === 'string' && UUID.test(uuid) ? uuid.toLowerCase() : undefined;
}

/** The inspection's result without the document itself. */
function factsOf(payload: string, inspection: VconInspection): VconFacts {
  const { form, uuid, updatedAt, createdAt, vconMember, innermostPayloadHash, document, content } = inspection;
  const vcon = document?.value ?? null;
  const [amended, redacted] = [predecessor(content ?? vcon, 'amended'), predecessor(content ?? vcon, 'redacted')];
  const consents = form === 'unsigned' && isJsonObject(vcon) ? consentsOf(vcon) : undefined;
  return {
    payload,
    form,
    ...(uuid ? { uuid } : {}),
    ...vconTexts({ updatedAt, createdAt, vconMember }),
    ...(innermostPayloadHash ? { innermostPayloadHash } : {}),
    ...(amended ? { amended } : {}),
    ...(redacted ? { redacted } : {}),
    ...(consents ? { consents } : {}),
  };
}

function readWhole(bytes: Uint8Array, payload: string): VconFacts {
  const inspection = inspectVcon(bytes, sha256);
  const facts = factsOf(payload, inspection);
  if (!inspection.document || facts.innermostPayloadHash || facts.form === 'encrypted') return facts;
  const jcs = jcsHash(inspection.document, sha256);
  return jcs.hash === undefined ? facts : { ...facts, jcs: { hash: jcs.hash, lossy: jcs.lossy } };
}

/** A small object with the members that matter; of the others only whether they exist. */
function outline({ members }: SkimmedObject): string {
  const shown = [...members].flatMap(([name, value]) => {
    const most = name === 'attachments' ? READABLE_ATTACHMENTS_BYTES : READABLE_MEMBER_BYTES;
    if ((SKIMMED_MEMBERS.includes(name) || name === 'attachments') && value.length <= most && isJson(value))
      return [`${JSON.stringify(name)}:${value.toString()}`];
    if (name === 'payload' || name === 'ciphertext') return [`${JSON.stringify(name)}:""`];
    if (LISTS.includes(name)) return [`${JSON.stringify(name)}:${isList(value) ? '[]' : 'null'}`];
    return name === 'recipients' ? ['"recipients":[]'] : [];
  });
  return `{${shown.join(',')}}`;
}

/** Whether the text of a member is that of a list. */
function isList(value: Buffer): boolean {
  return String.fromCharCode(value.find((byte) => byte > 0x20) ?? 0) === '[';
}

function isJson(value: Buffer): boolean {
  try {
    readJson(value);
    return true;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

function readOutline(skimmed: SkimmedObject, payload: string): VconFacts {
  const inspection = inspectVcon(Buffer.from(outline(skimmed)), sha256);
  // The digest would be that of the outline, and omitted attachments do not mean that there are none.
  const { innermostPayloadHash: _none, consents, ...facts } = factsOf(payload, inspection);
  const attachments = skimmed.members.get('attachments');
  const seen = attachments === undefined || attachments.length <= READABLE_ATTACHMENTS_BYTES;
  return { ...facts, ...(seen && consents ? { consents } : {}), skimmed: true };
}

/**
 * Inspects the bytes of a vCon, even invalid ones; never throws. Takes a fraction of a second for any size: a vCon that
 * is too large to be read in that time is skimmed, and has no JCS digest.
 */
export async function vconFacts(bytes: Buffer): Promise<VconFacts> {
  const payload = await hashInTurns(bytes);
  if (bytes.length <= SMALL_BYTES) return readWhole(bytes, payload);
  const skimmed = await skimJson(bytes);
  if (!skimmed) return { payload, form: 'malformed' };
  const tooMuch =
    bytes.length > READABLE_BYTES ||
    skimmed.tokens > READABLE_TOKENS ||
    (skimmed.members.get('payload')?.length ?? 0) > READABLE_PAYLOAD_BYTES;
  return tooMuch ? readOutline(skimmed, payload) : readWhole(bytes, payload);
}
