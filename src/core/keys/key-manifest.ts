import { type CborMap, type CborValue, encodeCbor } from '../cose/cbor.js';
import { coseKeyFromJwk, keyThumbprint } from '../cose/cose-key.js';
import { Claim, CONFIRMATION_KEY, Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import { encodeSign1 } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';
import { encodeNamedKey, type NamedKey } from './manifest-key.js';

/** Header 3 of a key manifest. */
export const MANIFEST_TYPE = 'application/vcon-archivist.key-manifest+cbor';
export const MANIFEST_VERSION = 1;

/**
 * - `pending`: published, but does not sign yet.
 * - `active`: signs. A role has one.
 * - `retired`: no longer signs; what it signed still counts.
 * - `revoked`: stolen. What it signed counts only if a log proves that it is older than the revocation.
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
  /** Of a revoked key: the size of each statement log, by its name, when it was revoked. Entries below are older. */
  readonly revokedAt?: Readonly<Record<string, bigint>>;
}

/** A statement log of the deployment, and its newest published state when the manifest was made. */
export interface ManifestLog {
  /** Its name in receipts and checkpoints. */
  readonly name: string;
  readonly kind: (typeof MANIFEST_LOG_KINDS)[number];
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
  /** DID of the service at that time. A name only: it proves nothing. */
  readonly issuer: string;
  /** The name of the keys log. */
  readonly subject: string;
}

/** Labels of the payload's maps. */
export const Member = { version: 1, number: 2, issued: 3, first: 4, previous: 5, root: 6, keys: 7, logs: 8 } as const;
export const KeyMember = { role: 1, key: 2, state: 3, from: 4, until: 5, since: 6, revokedAt: 7 } as const;
export const LogMember = { name: 1, kind: 2, size: 3, root: 4, firstSize: 5 } as const;
export const MANIFEST_LOG_KINDS = ['public_statement', 'private_statement', 'keys'] as const;

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
    ...(key.revokedAt ? [[KeyMember.revokedAt, encodeSizes(key.revokedAt)] as [number, CborValue]] : []),
  ]);
}

/** A size is a number wherever CBOR would read it as one. */
function sizeValue(size: bigint): CborValue {
  return size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size;
}

function encodeSizes(sizes: Readonly<Record<string, bigint>>): CborMap {
  return new Map(Object.entries(sizes).map(([name, value]) => [name, sizeValue(value)]));
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
      [Member.version, MANIFEST_VERSION],
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

/**
 * Returns a manifest whose signature is still empty: this is what an offline root key signs. It can be read as a
 * manifest, but does not verify with any key.
 * @param root the key that is to sign it, and the number of its algorithm
 */
export function unsignedKeyManifest(manifest: KeyManifest, root: Pick<Signer, 'alg' | 'publicKey'>): Uint8Array {
  const kid = keyThumbprint(root.publicKey);
  const header: CborMap = new Map<number, CborValue>([
    [Header.alg, root.alg],
    [Header.contentType, MANIFEST_TYPE],
    [Header.kid, kid],
    [
      Header.claims,
      new Map<number, CborValue>([
        [Claim.issuer, manifest.issuer],
        [Claim.subject, manifest.subject],
        [Claim.confirmation, new Map([[CONFIRMATION_KEY, coseKeyFromJwk(root.publicKey, kid)]])],
      ]),
    ],
  ]);
  return encodeSign1({
    protectedBytes: encodeCbor(header),
    unprotectedHeader: new Map(),
    payload: encodeManifestPayload(manifest),
    signature: new Uint8Array(),
  });
}
