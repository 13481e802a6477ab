import { createHash } from 'node:crypto';
import { isJsonObject, JsonError, type JsonValue, readJson } from '../../src/core/vcon/json-document.js';
import { inspectVcon, type VconForm, type VconInspection } from '../../src/core/vcon/vcon-form.js';
import { jcsHash } from '../../src/core/vcon/vcon-hash.js';
import { type Consent, consentsOf } from './consent.js';
import { type SkimmedObject, skimJson } from './skim-json.js';

/** All that is kept of a vCon: digests and labels, nothing of its conversation. */
export interface VconFacts {
  /** Hex SHA-256 of the bytes, the conserver's own `Vcon.hash`. */
  readonly payload: string;
  /** Undefined where nobody has looked at the bytes beyond their hash. */
  readonly form?: VconForm;
  /** In lower case. */
  readonly uuid?: string;
  readonly updatedAt?: string;
  readonly createdAt?: string;
  readonly vconMember?: string;
  readonly jcs?: { readonly hash: string; readonly lossy: boolean };
  readonly innermostPayloadHash?: string;
  /** UUIDs of the vCon that this one amends or redacts. */
  readonly amended?: string;
  readonly redacted?: string;
  /** Undefined where they cannot be seen. */
  readonly consents?: readonly Consent[];
  /** Too much to be read within the time of a request: only its own members were looked at. */
  readonly skimmed?: true;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Below this, reading is quicker than skimming first. */
const SMALL_BYTES = 256 * 1024;
/** So many tokens are read, and written in canonical form, in a fraction of a second. */
const READABLE_TOKENS = 400_000;
/** A recording within it is few tokens and still has to be decoded, and written in canonical form. */
const READABLE_BYTES = 24 * 1024 * 1024;
/** Hashed at a time; then the event loop has its turn. */
const HASHED_BYTES = 4 * 1024 * 1024;
/** A signed payload is read as a document of its own. */
const READABLE_PAYLOAD_BYTES = 4 * 1024 * 1024;
/** Members whose values are read of a vCon that is only skimmed, and how long they may be. */
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

/** What the inspection tells, without the document itself. */
function factsOf(payload: string, inspection: VconInspection): VconFacts {
  const { form, uuid, updatedAt, createdAt, vconMember, innermostPayloadHash, document } = inspection;
  const vcon = document?.value ?? null;
  const [amended, redacted] = [predecessor(vcon, 'amended'), predecessor(vcon, 'redacted')];
  const readable = form === 'unsigned' && isJsonObject(vcon);
  return {
    payload,
    form,
    ...(uuid ? { uuid } : {}),
    ...(updatedAt ? { updatedAt } : {}),
    ...(createdAt ? { createdAt } : {}),
    ...(vconMember ? { vconMember } : {}),
    ...(innermostPayloadHash ? { innermostPayloadHash } : {}),
    ...(amended ? { amended } : {}),
    ...(redacted ? { redacted } : {}),
    ...(readable ? { consents: consentsOf(vcon.get('attachments')) } : {}),
  };
}

function readWhole(bytes: Uint8Array, payload: string): VconFacts {
  const inspection = inspectVcon(bytes, sha256);
  const facts = factsOf(payload, inspection);
  if (!inspection.document || facts.innermostPayloadHash || facts.form === 'encrypted') return facts;
  const jcs = jcsHash(inspection.document, sha256);
  return jcs.hash === undefined ? facts : { ...facts, jcs: { hash: jcs.hash, lossy: jcs.lossy } };
}

/** A small object with the members that matter, and of the others only whether they are there. */
function outline({ members }: SkimmedObject): string {
  const shown = [...members].flatMap(([name, value]) => {
    const most = name === 'attachments' ? READABLE_ATTACHMENTS_BYTES : READABLE_MEMBER_BYTES;
    if ((SKIMMED_MEMBERS.includes(name) || name === 'attachments') && value.length <= most && isJson(value))
      return [`${JSON.stringify(name)}:${value.toString()}`];
    if (name === 'payload' || name === 'ciphertext') return [`${JSON.stringify(name)}:""`];
    return name === 'recipients' ? ['"recipients":[]'] : [];
  });
  return `{${shown.join(',')}}`;
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
  // The digest would be that of the outline, and attachments that were left out are not known to be none.
  const { innermostPayloadHash: _none, consents, ...facts } = factsOf(payload, inspection);
  const attachments = skimmed.members.get('attachments');
  const seen = attachments === undefined || attachments.length <= READABLE_ATTACHMENTS_BYTES;
  return { ...facts, ...(seen && consents ? { consents } : {}), skimmed: true };
}

/**
 * Looks at the bytes of a vCon, whatever they are; never throws. A vCon of any size takes a fraction of a second: one with
 * more in it than can be read in that time is skimmed, and has no JCS digest.
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
