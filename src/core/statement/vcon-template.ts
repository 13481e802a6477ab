import { fromHex } from '../bytes.js';
import { HASHES, type HashName, type HashRules } from '../cose/algorithms.js';

/** The version of the vCon event attribute template that statements are made from. */
export const TEMPLATE_VERSION = '0.3.0';

/**
 * The attribute with the JCS digest of the same vCon. It lets a verifier recognise a copy with another serialisation.
 */
export const JCS_DIGEST_ATTRIBUTE = 'payload_jcs_sha256';

/** A vCon operation as the template puts it into event attributes. */
export interface VconTemplate {
  /** Digest of the vCon. */
  readonly payload: Uint8Array;
  /** COSE number of the digest's algorithm. */
  readonly payloadHashAlg: number;
  /** `vcon://<uuid>` */
  readonly subject: string;
  readonly preimageContentType?: string;
  readonly payloadLocation?: string;
  /** The template's other string attributes. */
  readonly meta: ReadonlyMap<string, string>;
}

/**
 * The attributes that a statement copies beside its payload, in the order in which CBOR writes them. The list is fixed,
 * because a public log must not copy arbitrary attributes of events.
 */
export const META_ATTRIBUTES = [
  'conserver_link',
  'vcon_operation',
  'arc_display_type',
  JCS_DIGEST_ATTRIBUTE,
  'timestamp_declared',
  'vcon_draft_version',
  'conserver_link_name',
  'scitt_draft_version',
  'conserver_link_version',
] as const;

/** Returns COSE number and digest length of a hash name such as `SHA-256`; undefined for an unknown name. */
export function hashRules(name: unknown): HashRules | undefined {
  if (typeof name !== 'string') return undefined;
  const hash = name.toUpperCase().replace(/^SHA-?(?=\d)/, 'SHA-');
  return Object.hasOwn(HASHES, hash) ? HASHES[hash as HashName] : undefined;
}

/** Returns the name of a hash algorithm by its COSE number, or the number itself if it is unknown. */
export function hashName(alg: number): string {
  return Object.entries(HASHES).find(([, rules]) => rules.alg === alg)?.[0] ?? String(alg);
}

/** Returns the bytes of a digest in hex; undefined if it is not hex, or does not have its algorithm's length. */
export function digestOfHex(hex: unknown, rules: HashRules): Uint8Array | undefined {
  return isDigest(hex, rules) ? fromHex(hex) : undefined;
}

function isDigest(hex: unknown, rules: HashRules): hex is string {
  return typeof hex === 'string' && hex.length === 2 * rules.length && /^[0-9a-f]*$/i.test(hex);
}

interface RequiredParts {
  readonly rules: HashRules;
  readonly payload: string;
  readonly subject: string;
}

function requiredParts(attributes: Readonly<Record<string, unknown>>): RequiredParts | undefined {
  const rules = hashRules(attributes['payload_hash_alg']);
  const { payload, subject } = attributes;
  if (!rules || !isDigest(payload, rules) || typeof subject !== 'string' || !subject.startsWith('vcon://'))
    return undefined;
  return { rules, payload, subject };
}

/** Returns whether `readTemplate` can read these attributes. */
export function isTemplate(attributes: Readonly<Record<string, unknown>>): boolean {
  return requiredParts(attributes) !== undefined;
}

/**
 * Reads event attributes as the template. Returns undefined if they do not follow it: the payload must be hex of its
 * algorithm's length, and the subject must begin with `vcon://`. Nothing else is required, because stock links omit
 * members.
 */
export function readTemplate(attributes: Readonly<Record<string, unknown>>): VconTemplate | undefined {
  const required = requiredParts(attributes);
  if (!required) return undefined;
  const { payload_preimage_content_type: contentType, payload_location: location } = attributes;
  const meta = new Map<string, string>();
  for (const name of META_ATTRIBUTES) {
    const value = attributes[name];
    if (typeof value === 'string') meta.set(name, value);
  }
  return {
    payload: fromHex(required.payload),
    payloadHashAlg: required.rules.alg,
    subject: required.subject,
    ...(typeof contentType === 'string' ? { preimageContentType: contentType } : {}),
    ...(typeof location === 'string' && location !== '' ? { payloadLocation: location } : {}),
    meta,
  };
}
