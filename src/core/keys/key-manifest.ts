import { equalBytes } from '../bytes.js';
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../cose/cbor.js';
import { coseKeyFromJwk, jwkFromCoseKey, keyThumbprint } from '../cose/cose-key.js';
import { Claim, CONFIRMATION_KEY, Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import { createSign1, decodeSign1, encodeSign1, type Sign1 } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import { readLogClaims } from '../receipt/log-claims.js';
import { decodeNamedKey, encodeNamedKey, type NamedKey } from './manifest-key.js';

/** Header 3 of a key manifest. */
export const MANIFEST_TYPE = 'application/vcon-archivist.key-manifest+cbor';
const VERSION = 1;
const HASH_BYTES = 32;
const MOST_BYTES = 1024 * 1024;

/**
 * - `pending`: published, and signs nothing yet.
 * - `active`: signs. A role has one.
 * - `retired`: signs no more; what it signed counts.
 * - `revoked`: stolen. What it signed counts only where a log proves that it is older than the revocation.
 */
export const MANIFEST_KEY_STATES = ['pending', 'active', 'retired', 'revoked'] as const;
export type ManifestKeyState = (typeof MANIFEST_KEY_STATES)[number];

/** A key of the deployment. Times are Unix milliseconds. */
export interface ManifestKey extends NamedKey {
  readonly role: string;
  readonly state: ManifestKeyState;
  readonly validFromMs: number;
  /** When it was retired or revoked. */
  readonly validUntilMs?: number;
  /** The number of the manifest that listed it first. */
  readonly since: number;
}

/** A statement log of the deployment, and its newest published state when the manifest was made. */
export interface ManifestLog {
  /** Its name in receipts and checkpoints. */
  readonly name: string;
  readonly kind: 'public_statement' | 'private_statement' | 'keys';
  readonly size: bigint;
  readonly root: Uint8Array;
  /** Its size when the first manifest was made: entries below are older than any manifest. */
  readonly firstSize: bigint;
}

/** What a root key signs: every key of a deployment at one moment (docs/formats/key-manifest.md). */
export interface KeyManifest {
  /** 1 for the first, and one more each time. */
  readonly number: number;
  readonly issuedAtMs: number;
  /** When the first manifest was made. */
  readonly firstIssuedAtMs: number;
  /** SHA-256 of the manifest before; undefined for the first. */
  readonly previous: Uint8Array | undefined;
  /** The root key that signs the next manifest: another one than this manifest's signer where the root is rotated. */
  readonly root: PublicJwk;
  /** In order of role, then time, then id. */
  readonly keys: readonly ManifestKey[];
  readonly logs: readonly ManifestLog[];
  /** Who issues: the DID of the service then. It names, and proves nothing. */
  readonly issuer: string;
  /** The name of the keys log. */
  readonly subject: string;
}

/** A manifest as it was read; its signature is not checked yet. */
export interface ReadKeyManifest {
  readonly manifest: KeyManifest;
  /** The key that it says it is signed with. */
  readonly signer: PublicJwk;
  readonly sign1: Sign1;
  /** As the keys log holds it, with an empty unprotected header. */
  readonly bytes: Uint8Array;
}

const Member = { version: 1, number: 2, issued: 3, first: 4, previous: 5, root: 6, keys: 7, logs: 8 } as const;
const KeyMember = { role: 1, key: 2, state: 3, from: 4, until: 5, since: 6 } as const;
const LogMember = { name: 1, kind: 2, size: 3, root: 4, firstSize: 5 } as const;
const LOG_KINDS = ['public_statement', 'private_statement', 'keys'] as const;

function bad(reason: string): VerificationError {
  return new VerificationError('malformed', `not a key manifest: ${reason}`);
}

function byPlace(left: ManifestKey, right: ManifestKey): number {
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return text(left.role, right.role) || left.validFromMs - right.validFromMs || text(left.keyId, right.keyId);
}

function encodeKey(key: ManifestKey): CborMap {
  return new Map<number, CborValue>([
    [KeyMember.role, key.role],
    [KeyMember.key, encodeNamedKey(key)],
    [KeyMember.state, key.state],
    [KeyMember.from, key.validFromMs],
    ...(key.validUntilMs === undefined ? [] : [[KeyMember.until, key.validUntilMs] as [number, CborValue]]),
    [KeyMember.since, key.since],
  ]);
}

/** A size is a number wherever CBOR would read it as one. */
function sizeValue(size: bigint): CborValue {
  return size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size;
}

function encodeLog(log: ManifestLog): CborMap {
  return new Map<number, CborValue>([
    [LogMember.name, log.name],
    [LogMember.kind, log.kind],
    [LogMember.size, sizeValue(log.size)],
    [LogMember.root, log.root],
    [LogMember.firstSize, sizeValue(log.firstSize)],
  ]);
}

/** Returns the payload that a root key signs: the same bytes for the same manifest, in whatever order its keys are given. */
export function encodeManifestPayload(manifest: Omit<KeyManifest, 'issuer' | 'subject'>): Uint8Array {
  return encodeCbor(
    new Map<number, CborValue>([
      [Member.version, VERSION],
      [Member.number, manifest.number],
      [Member.issued, manifest.issuedAtMs],
      [Member.first, manifest.firstIssuedAtMs],
      [Member.previous, manifest.previous ?? null],
      [Member.root, coseKeyFromJwk(manifest.root, keyThumbprint(manifest.root))],
      [Member.keys, manifest.keys.toSorted(byPlace).map(encodeKey)],
      [Member.logs, manifest.logs.map(encodeLog)],
    ]),
  );
}

/** Signs a manifest with a root key. Resolves with the tagged COSE_Sign1, as the keys log holds it. */
export async function signKeyManifest(manifest: KeyManifest, signer: Signer): Promise<Uint8Array> {
  const payload = encodeManifestPayload(manifest);
  const key = coseKeyFromJwk(signer.publicKey, signer.kid);
  const header: CborMap = new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.contentType, MANIFEST_TYPE],
    [Header.kid, signer.kid],
    [
      Header.claims,
      new Map<number, CborValue>([
        [Claim.issuer, manifest.issuer],
        [Claim.subject, manifest.subject],
        [Claim.confirmation, new Map([[CONFIRMATION_KEY, key]])],
      ]),
    ],
  ]);
  return encodeSign1(await createSign1(header, payload, signer));
}

function whole(value: CborValue | undefined, what: string, least = 0): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) throw bad(`${what} is not a number`);
  return value;
}

function size(value: CborValue | undefined): bigint {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || value < 0) throw bad('a log has no size');
  return BigInt(value);
}

function text<Value extends string>(value: CborValue | undefined, what: string, known?: readonly Value[]): Value {
  if (typeof value !== 'string' || value === '' || value.length > 1024) throw bad(`${what} is not text`);
  if (known && !known.includes(value as Value)) throw bad(`${what} is ${JSON.stringify(value)}, which is not known`);
  return value as Value;
}

function hash(value: CborValue | undefined, what: string): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== HASH_BYTES) throw bad(`${what} is not 32 bytes`);
  return value;
}

function decodeKey(value: CborValue, number: number): ManifestKey {
  if (!(value instanceof Map)) throw bad('a key is not a map');
  const state = text(value.get(KeyMember.state), 'a state', MANIFEST_KEY_STATES);
  const validFromMs = whole(value.get(KeyMember.from), 'a time');
  const ended = state === 'retired' || state === 'revoked';
  if (ended !== value.has(KeyMember.until)) throw bad(`a ${state} key has ${ended ? 'no end' : 'an end'}`);
  const since = whole(value.get(KeyMember.since), 'a manifest number', 1);
  if (since > number) throw bad('a key was first listed by a later manifest');
  return {
    role: text(value.get(KeyMember.role), 'a role'),
    ...decodeNamedKey(value.get(KeyMember.key)),
    state,
    validFromMs,
    ...(ended ? { validUntilMs: whole(value.get(KeyMember.until), 'a time', validFromMs) } : {}),
    since,
  };
}

function decodeLog(value: CborValue): ManifestLog {
  if (!(value instanceof Map)) throw bad('a log is not a map');
  const log = {
    name: text(value.get(LogMember.name), 'a log’s name'),
    kind: text(value.get(LogMember.kind), 'a log’s kind', LOG_KINDS),
    size: size(value.get(LogMember.size)),
    root: hash(value.get(LogMember.root), 'a log’s root'),
    firstSize: size(value.get(LogMember.firstSize)),
  };
  if (log.firstSize > log.size) throw bad('a log was larger before the first manifest');
  return log;
}

function rejectDoubles(manifest: Pick<KeyManifest, 'keys' | 'logs'>): void {
  const distinct = (values: readonly string[], what: string) => {
    if (new Set(values).size !== values.length) throw bad(`${what} stands in it twice`);
  };
  const active = manifest.keys.filter(({ state }) => state === 'active').map(({ role }) => role);
  distinct(
    manifest.keys.map(({ keyId }) => keyId),
    'a key',
  );
  distinct(active, 'an active key of one role');
  distinct(
    manifest.logs.map(({ name }) => name),
    'a log',
  );
  for (const { role } of manifest.keys) if (!active.includes(role)) throw bad(`the role ${role} has no active key`);
}

function decodePayload(payload: Uint8Array): Omit<KeyManifest, 'issuer' | 'subject'> {
  const map = decodeCbor(payload, { maxBytes: MOST_BYTES });
  if (!(map instanceof Map)) throw bad('its payload is not a map');
  if (map.get(Member.version) !== VERSION)
    throw new VerificationError('unsupported', 'a key manifest of another version');
  const number = whole(map.get(Member.number), 'its number', 1);
  const [keys, logs] = [map.get(Member.keys), map.get(Member.logs)];
  if (!Array.isArray(keys) || !Array.isArray(logs)) throw bad('it has no keys or no logs');
  const previous = map.get(Member.previous);
  if ((previous === null) !== (number === 1)) throw bad('only the first manifest has none before it');
  const issuedAtMs = whole(map.get(Member.issued), 'its time');
  const root = jwkFromCoseKey(map.get(Member.root) ?? null);
  if (root.kty === 'RSA') throw new VerificationError('unsupported', 'a root key is an EC or Ed25519 key');
  const { kid: _kid, alg: _alg, ...members } = root;
  const manifest = {
    number,
    issuedAtMs,
    firstIssuedAtMs: whole(map.get(Member.first), 'its time'),
    previous: previous === null ? undefined : hash(previous, 'the hash of the manifest before'),
    root: members as PublicJwk,
    keys: keys.map((key) => decodeKey(key, number)),
    logs: logs.map(decodeLog),
  };
  if (manifest.firstIssuedAtMs > issuedAtMs) throw bad('it is older than the first');
  rejectDoubles(manifest);
  if (!equalBytes(encodeManifestPayload(manifest), payload)) throw bad('its payload is not in its one form');
  return manifest;
}

function signerOf(sign1: Sign1): PublicJwk {
  const { claimedKey } = readLogClaims(sign1.protectedHeader);
  const { kid: _kid, alg: _alg, ...members } = jwkFromCoseKey(claimedKey ?? null);
  const signer = members as PublicJwk;
  const kid = sign1.protectedHeader.get(Header.kid);
  if (!(kid instanceof Uint8Array) || !equalBytes(kid, keyThumbprint(signer))) throw bad('its kid is another key’s');
  return signer;
}

/**
 * Reads a key manifest: a tagged COSE_Sign1, whose unprotected header may hold receipts. Every member is checked, and that
 * there is no other way to write it. The signature is not: `verifyKeyManifests` does that.
 * @throws {VerificationError} `malformed`, `unsupported`, `key_invalid`
 */
export function readKeyManifest(message: Uint8Array): ReadKeyManifest {
  const sign1 = decodeSign1(message, { maxBytes: MOST_BYTES });
  if (sign1.protectedHeader.get(Header.contentType) !== MANIFEST_TYPE) throw bad('it has another content type');
  if (sign1.payload === null) throw bad('it has no payload');
  const { issuer, subject } = readLogClaims(sign1.protectedHeader);
  const manifest = {
    ...decodePayload(sign1.payload),
    issuer: text(issuer, 'its issuer'),
    subject: text(subject, 'its subject'),
  };
  const bytes = encodeSign1({ ...sign1, unprotectedHeader: new Map() });
  return { manifest, signer: signerOf(sign1), sign1, bytes };
}
