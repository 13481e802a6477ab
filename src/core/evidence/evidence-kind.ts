import { cutEvidencePage } from '../bundle/evidence-page.js';
import { decodeCoseKeySet } from '../cose/cose-key.js';
import { EVENT_HEADER, Header } from '../cose/labels.js';
import { VerificationError } from '../errors.js';
import { MANIFEST_TYPE } from '../keys/key-manifest.js';
import { decodeKeyManifests } from '../keys/verify-key-manifests.js';
import { decodeMassifStart } from '../massif/massif-start.js';
import { decodeSealPayload } from '../receipt/seal.js';
import { decodeStatement } from '../statement/decode-statement.js';
import { utf8Text } from '../utf8-text.js';

/** What a file was read as, by its content. Its name and extension do not matter. */
export type EvidenceKind =
  | 'transparent_statement'
  | 'statement'
  | 'receipt'
  | 'seal'
  | 'event'
  | 'event_list'
  | 'massif'
  | 'bundle'
  | 'folder'
  | 'keys'
  | 'key_manifest'
  | 'document';

const TAGGED_SIGN1 = 0xd2;
/** The major type of an array, in the upper three bits of a head (RFC 8949 section 3.1). */
const CBOR_ARRAY = 4;
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** Returns what bytes are. Everything that is not evidence is a document, which evidence may be about. */
export function kindOf(bytes: Uint8Array): EvidenceKind {
  if (isTaggedSign1(bytes)) return coseKind(bytes);
  if (ZIP.every((byte, at) => bytes[at] === byte)) return 'bundle';
  if (cutEvidencePage(bytes)) return 'bundle';
  if (isMassif(bytes)) return 'massif';
  return jsonKind(jsonOf(bytes)) ?? (isCoseKeySet(bytes) ? 'keys' : areManifests(bytes) ? 'key_manifest' : 'document');
}

/** A text can begin with the same two bytes, such as one with a Kazakh or Ukrainian letter; a signature is no text. */
function isTaggedSign1(bytes: Uint8Array): boolean {
  return bytes[0] === TAGGED_SIGN1 && bytes[1]! >> 5 === CBOR_ARRAY && !isText(bytes);
}

function isText(bytes: Uint8Array): boolean {
  try {
    utf8Text(bytes);
    return true;
  } catch {
    return false;
  }
}

function coseKind(bytes: Uint8Array): EvidenceKind {
  try {
    const { protectedHeader, unprotectedHeader, payload } = decodeStatement(bytes);
    if (protectedHeader.get(Header.contentType) === MANIFEST_TYPE) return 'key_manifest';
    if (protectedHeader.has(Header.verifiableDataStructure)) return 'receipt';
    // No signature covers the peak receipts, so a seal may lack them. With them it is a seal even if its state cannot be read.
    if (isSealedState(payload) || unprotectedHeader.has(Header.peakReceipts)) return 'seal';
    const carries = unprotectedHeader.has(Header.receipts) || unprotectedHeader.has(EVENT_HEADER);
    return carries ? 'transparent_statement' : 'statement';
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    // Damaged evidence is refused by the check that it is given to, with the reason.
    return 'transparent_statement';
  }
}

function isSealedState(payload: Uint8Array | null): boolean {
  if (!payload) return false;
  try {
    decodeSealPayload(payload);
    return true;
  } catch {
    return false;
  }
}

function isMassif(bytes: Uint8Array): boolean {
  try {
    return decodeMassifStart(bytes).index >= 0;
  } catch {
    return false;
  }
}

/** A map in CBOR is a document, however many keys it has: only a set is published. */
function isCoseKeySet(bytes: Uint8Array): boolean {
  try {
    return decodeCoseKeySet(bytes).length > 0;
  } catch {
    return false;
  }
}

/** The newest manifest, after those that rotated the root key. */
function areManifests(bytes: Uint8Array): boolean {
  try {
    return decodeKeyManifests(bytes).length > 0;
  } catch {
    return false;
  }
}

type Json = Readonly<Record<string, unknown>>;

function jsonOf(bytes: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Members that only conversations have, also signed and encrypted ones. */
const OF_CONVERSATIONS = ['vcon', 'uuid', 'parties', 'signatures', 'ciphertext'];

/** The members of a DID document (W3C DID Core, section 4). */
const OF_DID_DOCUMENTS = [
  '@context',
  'id',
  'alsoKnownAs',
  'controller',
  'verificationMethod',
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
  'service',
];

/**
 * A member that somebody has added makes no document something else, which would be compared with nothing: a conversation
 * stays one, and lists and key sets have no members but their own.
 */
function jsonKind(value: Json | undefined): EvidenceKind | undefined {
  if (!value) return undefined;
  if (hasConversation(value)) return 'document';
  const { events, keys, verificationMethod, id } = value;
  const isOnly = (...names: string[]) => Object.keys(value).every((name) => names.includes(name));
  if (isListOf(events) && isOnly('events', 'next_page_token')) return 'event_list';
  if (isListOf(keys, isJwk) && isOnly('keys')) return 'keys';
  const isDid = typeof id === 'string' && id.startsWith('did:');
  if (isDid && isListOf(verificationMethod, isJson) && isOnly(...OF_DID_DOCUMENTS)) return 'keys';
  return isEvent(value) ? 'event' : 'document';
}

function isListOf(value: unknown, isMember: (member: unknown) => boolean = () => true): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isMember);
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const isJwk = (value: unknown): boolean => isJson(value) && 'kty' in value;
const EVENT_IDENTITY = /^((public)?assets\/[^/]+\/)?events\//;
const isEvent = (value: unknown): boolean =>
  isJson(value) && typeof value['identity'] === 'string' && EVENT_IDENTITY.test(value['identity']);

/** Returns whether bytes have a member that only conversations have, also if they are signed or encrypted. */
export function isConversation(bytes: Uint8Array): boolean {
  const value = jsonOf(bytes);
  return value !== undefined && hasConversation(value);
}

const hasConversation = (value: Json): boolean => OF_CONVERSATIONS.some((name) => Object.hasOwn(value, name));

/** Detects the media type of a document from its content; undefined if it is unknown. */
export type MediaTypeOf = (bytes: Uint8Array) => Promise<string | undefined>;

/** Returns what a document is read as: `vcon`, `json`, its media type, or `unknown`. */
export async function takenForDocument(bytes: Uint8Array, mediaTypeOf?: MediaTypeOf): Promise<string> {
  const value = jsonOf(bytes);
  if (value) return 'vcon' in value || ('uuid' in value && 'parties' in value) ? 'vcon' : 'json';
  return (await mediaTypeOf?.(bytes)) ?? 'unknown';
}

/** Returns the name of a kind of file, for a person. */
export function kindName(kind: string): string {
  if (kind === 'vcon') return 'a vCon';
  if (kind === 'json') return 'a JSON document';
  if (kind === 'unknown') return 'a document of an unknown kind';
  if (kind === 'evidence_page') return 'the page of a bundle';
  if (kind === 'replica') return 'a replica of logs';
  if (kind.includes('/')) return `a document (${kind})`;
  return kind === 'keys' ? 'published keys' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind.replaceAll('_', ' ')}`;
}
