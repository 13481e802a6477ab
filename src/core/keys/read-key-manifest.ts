import { equalBytes } from '../bytes.js';
import { type CborMap, type CborValue, decodeCbor } from '../cose/cbor.js';
import { jwkFromCoseKey, keyThumbprint } from '../cose/cose-key.js';
import { Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import { decodeSign1, encodeSign1, type Sign1 } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { LAST_TIME_MS } from '../last-time.js';
import { readLogClaims } from '../receipt/log-claims.js';
import {
  encodeManifestPayload,
  type KeyManifest,
  KeyMember,
  LogMember,
  MANIFEST_KEY_STATES,
  MANIFEST_LOG_KINDS,
  MANIFEST_TYPE,
  MANIFEST_VERSION,
  type ManifestKey,
  type ManifestLog,
  Member,
} from './key-manifest.js';
import { decodeNamedKey } from './manifest-key.js';

const HASH_BYTES = 32;
const MOST_BYTES = 1024 * 1024;

/** A manifest as it was read; its signature is not checked yet. */
export interface ReadKeyManifest {
  readonly manifest: KeyManifest;
  /** The key that it says it is signed with. */
  readonly signer: PublicJwk;
  readonly sign1: Sign1;
  /** As the keys log holds it, with an empty unprotected header. */
  readonly bytes: Uint8Array;
}

function bad(reason: string): VerificationError {
  return new VerificationError('malformed', `not a key manifest: ${reason}`);
}

function whole(value: CborValue | undefined, what: string, least = 0): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) throw bad(`${what} is not a number`);
  return value;
}

function time(value: CborValue | undefined, least = 0): number {
  const ms = whole(value, 'a time', least);
  if (ms > LAST_TIME_MS) throw bad('a time is after the year 9999');
  return ms;
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
  const validFromMs = time(value.get(KeyMember.from));
  const ended = state === 'retired' || state === 'revoked';
  if (ended !== value.has(KeyMember.until)) throw bad(`a ${state} key has ${ended ? 'no end' : 'an end'}`);
  const since = whole(value.get(KeyMember.since), 'a manifest number', 1);
  if (since > number) throw bad('a key was first listed by a later manifest');
  const revokedAt = value.get(KeyMember.revokedAt);
  if ((state === 'revoked') !== revokedAt instanceof Map)
    throw bad(`a ${state} key and the logs of its revocation do not fit`);
  return {
    role: text(value.get(KeyMember.role), 'a role'),
    ...decodeNamedKey(value.get(KeyMember.key)),
    state,
    validFromMs,
    ...(ended ? { validUntilMs: time(value.get(KeyMember.until), validFromMs) } : {}),
    since,
    ...(revokedAt instanceof Map ? { revokedAt: decodeSizes(revokedAt) } : {}),
  };
}

function decodeSizes(map: CborMap): Record<string, bigint> {
  return Object.fromEntries([...map].map(([name, value]) => [text(String(name), 'a log’s name'), size(value)]));
}

function decodeLog(value: CborValue): ManifestLog {
  if (!(value instanceof Map)) throw bad('a log is not a map');
  const log = {
    name: text(value.get(LogMember.name), 'a log’s name'),
    kind: text(value.get(LogMember.kind), 'a log’s kind', MANIFEST_LOG_KINDS),
    size: size(value.get(LogMember.size)),
    root: hash(value.get(LogMember.root), 'a log’s root'),
    firstSize: size(value.get(LogMember.firstSize)),
  };
  if (log.firstSize > log.size) throw bad('a log was larger before the first manifest');
  return log;
}

function rejectDoubles(manifest: Pick<KeyManifest, 'keys' | 'logs'>): void {
  const distinct = (values: readonly string[], what: string) => {
    if (new Set(values).size !== values.length) throw bad(`${what} is listed twice`);
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

/** At a larger size than the log had, a stolen key would go on to sign what counts. */
function rejectLaterRevocations({ keys, logs }: Pick<KeyManifest, 'keys' | 'logs'>): void {
  const sizes = new Map(logs.map(({ name, size: published }) => [name, published]));
  for (const { revokedAt = {} } of keys)
    for (const [name, revoked] of Object.entries(revokedAt))
      if (revoked > (sizes.get(name) ?? -1n)) throw bad('a key was revoked at a larger size than a log has');
}

function decodePayload(payload: Uint8Array): Omit<KeyManifest, 'issuer' | 'subject'> {
  const map = decodeCbor(payload, { maxBytes: MOST_BYTES });
  if (!(map instanceof Map)) throw bad('its payload is not a map');
  if (map.get(Member.version) !== MANIFEST_VERSION)
    throw new VerificationError('unsupported', 'a key manifest of another version');
  const number = whole(map.get(Member.number), 'its number', 1);
  const [keys, logs] = [map.get(Member.keys), map.get(Member.logs)];
  if (!Array.isArray(keys) || !Array.isArray(logs)) throw bad('it has no keys or no logs');
  const previous = map.get(Member.previous);
  if ((previous === null) !== (number === 1)) throw bad('only the first manifest may have no predecessor');
  const issuedAtMs = time(map.get(Member.issued));
  const root = jwkFromCoseKey(map.get(Member.root) ?? null);
  if (root.kty === 'RSA') throw new VerificationError('unsupported', 'a root key is an EC or Ed25519 key');
  const { kid: _kid, alg: _alg, ...members } = root;
  const manifest = {
    number,
    issuedAtMs,
    firstIssuedAtMs: time(map.get(Member.first)),
    previous: previous === null ? undefined : hash(previous, 'the hash of the manifest before'),
    root: members as PublicJwk,
    keys: keys.map((key) => decodeKey(key, number)),
    logs: logs.map(decodeLog),
  };
  if (manifest.firstIssuedAtMs > issuedAtMs) throw bad('it is older than the first');
  rejectDoubles(manifest);
  rejectLaterRevocations(manifest);
  if (!equalBytes(encodeManifestPayload(manifest), payload)) throw bad('its payload is not encoded canonically');
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
 * Reads a key manifest: a tagged COSE_Sign1, whose unprotected header may hold receipts. Checks every member and that
 * the encoding is canonical. `verifyKeyManifests` checks the signature.
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
