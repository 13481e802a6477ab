import { readFile, stat } from 'node:fs/promises';
import { decodeCoseKeySet } from '../core/cose/cose-key.js';
import { EVENT_HEADER, Header } from '../core/cose/labels.js';
import { decodeSign1 } from '../core/cose/sign1.js';
import { VerificationError } from '../core/errors.js';
import { MANIFEST_TYPE } from '../core/keys/key-manifest.js';
import { decodeKeyManifests } from '../core/keys/verify-key-manifests.js';
import { decodeMassifStart } from '../core/massif/massif-start.js';

/** What a file was taken for, by its content. A name or an ending says nothing. */
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

export interface EvidenceFile {
  readonly path: string;
  readonly kind: EvidenceKind;
  /** Of a document: `vcon`, `json`, its media type, or `unknown`. Otherwise the kind. */
  readonly takenFor: string;
  /** Empty for a folder. */
  readonly bytes: Uint8Array;
}

/** What a person has to put right before anything can be checked. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws {UsageError} */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
}

/** Reads a file, or names a folder. @throws {UsageError} */
export async function readEvidence(path: string): Promise<EvidenceFile> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return { path, kind: 'folder', takenFor: 'folder', bytes: new Uint8Array() };
  const bytes = await readInput(path);
  const kind = kindOf(bytes);
  return { path, kind, takenFor: kind === 'document' ? await documentKind(bytes) : kind, bytes };
}

const TAGGED_SIGN1 = 0xd2;
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** What bytes are. Everything that is no evidence is a document, which evidence may be about. */
export function kindOf(bytes: Uint8Array): EvidenceKind {
  if (bytes[0] === TAGGED_SIGN1) return coseKind(bytes);
  if (ZIP.every((byte, at) => bytes[at] === byte)) return 'bundle';
  if (isMassif(bytes)) return 'massif';
  return jsonKind(jsonOf(bytes)) ?? (isCoseKeySet(bytes) ? 'keys' : areManifests(bytes) ? 'key_manifest' : 'document');
}

function coseKind(bytes: Uint8Array): EvidenceKind {
  try {
    const { protectedHeader, unprotectedHeader } = decodeSign1(bytes);
    if (protectedHeader.get(Header.contentType) === MANIFEST_TYPE) return 'key_manifest';
    if (protectedHeader.has(Header.verifiableDataStructure)) return 'receipt';
    if (unprotectedHeader.has(Header.peakReceipts)) return 'seal';
    const carries = unprotectedHeader.has(Header.receipts) || unprotectedHeader.has(EVENT_HEADER);
    return carries ? 'transparent_statement' : 'statement';
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    // Damaged evidence is refused by the check that it is given to, with the reason.
    return 'transparent_statement';
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

function jsonKind(value: Json | undefined): EvidenceKind | undefined {
  if (!value) return undefined;
  if (Array.isArray(value['events'])) return 'event_list';
  const { identity, keys, verificationMethod } = value;
  if (Array.isArray(verificationMethod) || (Array.isArray(keys) && keys.every(isJwk))) return 'keys';
  const isEvent = typeof identity === 'string' && /^((public)?assets\/[^/]+\/)?events\//.test(identity);
  return isEvent ? 'event' : 'document';
}

const isJwk = (key: unknown): boolean => typeof key === 'object' && key !== null && 'kty' in key;

async function documentKind(bytes: Uint8Array): Promise<string> {
  const value = jsonOf(bytes);
  if (value) return 'vcon' in value || ('uuid' in value && 'parties' in value) ? 'vcon' : 'json';
  // Loaded only for a file that is nothing that we know: its tables are large.
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime ?? 'unknown';
}

/** How a person calls a kind of file. */
export function kindName(kind: string): string {
  if (kind === 'vcon') return 'a vCon';
  if (kind === 'json') return 'a JSON document';
  if (kind === 'unknown') return 'a document of an unknown kind';
  if (kind.includes('/')) return `a document (${kind})`;
  return kind === 'keys' ? 'published keys' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind.replaceAll('_', ' ')}`;
}
