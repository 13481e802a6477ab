import { equalBytes } from '../bytes.js';
import { EVIDENCE_ALGORITHMS } from '../cose/algorithms.js';
import { decodeCbor, encodeCbor } from '../cose/cbor.js';
import { keyThumbprint } from '../cose/cose-key.js';
import { Header, SIGN1_TAG } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { VerifySignature } from '../cose/signature.js';
import { verifySign1 } from '../cose/verify-sign1.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';
import type { KeyManifest } from './key-manifest.js';
import { type ReadKeyManifest, readKeyManifest } from './read-key-manifest.js';

const MOST_MANIFESTS = 1000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Initial byte of a tagged COSE_Sign1; a list of manifests is an array. */
const SIGN1_START = 0xc0 + SIGN1_TAG;
const UNDERSTOOD = [Header.alg, Header.contentType, Header.kid, Header.claims];

/** A manifest whose root is trusted and whose signature is checked. */
export interface TrustedKeyManifest {
  readonly manifest: KeyManifest;
  /** SHA-256 of the manifest as the keys log holds it. */
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

/**
 * Returns the file that evidence carries: the newest manifest, after those in which the root key was rotated.
 * @param manifests in rising order of their numbers
 */
export function encodeKeyManifests(manifests: readonly Uint8Array[]): Uint8Array {
  return encodeCbor([...manifests]);
}

/** Returns the manifests of such a file, or the one manifest of a file that is one. @throws {VerificationError} `malformed` */
export function decodeKeyManifests(bytes: Uint8Array): ReadKeyManifest[] {
  if (bytes[0] === SIGN1_START) return [readKeyManifest(bytes)];
  const list = decodeCbor(bytes, { maxBytes: MOST_BYTES });
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_MANIFESTS)
    throw new VerificationError('malformed', 'it is neither a key manifest nor a list of them');
  const read = list.map((each) => {
    if (!(each instanceof Uint8Array)) throw new VerificationError('malformed', 'not key manifests: one is not bytes');
    return readKeyManifest(each);
  });
  for (const [place, { manifest }] of read.entries())
    if (place > 0 && manifest.number <= read[place - 1]!.manifest.number)
      throw new VerificationError('malformed', 'not key manifests: their numbers do not rise');
  return read;
}

async function checkSignature(
  { sign1, signer }: ReadKeyManifest,
  number: number,
  verifySignature: VerifySignature | undefined,
): Promise<void> {
  await verifySign1(sign1, sign1.payload!, {
    what: `key manifest ${number}`,
    keys: [signer],
    verifySignature,
    understood: UNDERSTOOD,
    untrusted: 'root_not_trusted',
    invalid: 'manifest_signature_invalid',
  });
}

function trusted({ manifest, bytes }: ReadKeyManifest): TrustedKeyManifest {
  return { manifest, bytes, hash: sha256(bytes) };
}

function isBy(read: ReadKeyManifest, thumbprint: Uint8Array): boolean {
  return equalBytes(keyThumbprint(read.signer), thumbprint);
}

/** Whether one of these manifests names the root key as its signer. No signature is checked. */
export function areUnderRoot(manifests: readonly ReadKeyManifest[], rootThumbprint: Uint8Array): boolean {
  return manifests.some((each) => isBy(each, rootThumbprint));
}

function checkFollows(read: ReadKeyManifest, before: TrustedKeyManifest): void {
  const { number, previous, subject } = read.manifest;
  const last = before.manifest;
  if (number <= last.number)
    throw new VerificationError('manifest_older', `key manifest ${number} comes after ${last.number}`);
  if (subject !== last.subject)
    throw new VerificationError(
      'manifest_invalid',
      `key manifest ${number} belongs to another deployment than key manifest ${last.number}`,
    );
  if (number === last.number + 1 && !(previous && equalBytes(previous, before.hash)))
    throw new VerificationError('manifest_invalid', `key manifest ${number} does not follow manifest ${last.number}`);
}

/**
 * Checks manifests against the thumbprint of a root key, and resolves with the newest. Each rotation of the root in between
 * has to be there: the manifest that names the new root, signed by the old one. Manifests before the first that this root
 * signed are not looked at.
 * @param manifests as `decodeKeyManifests` returns them
 * @throws {VerificationError} `root_not_trusted`, `manifest_signature_invalid`, `manifest_invalid`
 */
export async function verifyKeyManifests(
  manifests: readonly ReadKeyManifest[],
  rootThumbprint: Uint8Array,
  verifySignature?: VerifySignature,
): Promise<TrustedKeyManifest> {
  const first = manifests.findIndex((each) => isBy(each, rootThumbprint));
  if (first < 0)
    throw new VerificationError(
      'root_not_trusted',
      'the key manifest is not signed by the root key that has this fingerprint',
    );
  let newest: TrustedKeyManifest | undefined;
  for (const read of manifests.slice(first)) {
    const root = newest ? keyThumbprint(newest.manifest.root) : rootThumbprint;
    const { number } = read.manifest;
    if (!isBy(read, root))
      throw new VerificationError(
        'root_not_trusted',
        `key manifest ${number} is not signed by the root key of its time`,
      );
    if (newest) checkFollows(read, newest);
    await checkSignature(read, number, verifySignature);
    newest = trusted(read);
  }
  return newest!;
}

/**
 * Checks that a manifest is the one after another, without a gap: the next number, the hash of the one before, and signed
 * by the root key that the one before names.
 * @throws {VerificationError} `manifest_older`, `manifest_invalid`, `root_not_trusted`, `manifest_signature_invalid`
 */
export async function verifyNextKeyManifest(
  before: TrustedKeyManifest,
  message: Uint8Array,
  verifySignature?: VerifySignature,
): Promise<TrustedKeyManifest> {
  const read = readKeyManifest(message);
  const { number } = read.manifest;
  checkFollows(read, before);
  if (number !== before.manifest.number + 1)
    throw new VerificationError(
      'manifest_invalid',
      `key manifest ${number} comes after ${before.manifest.number}: one is missing`,
    );
  if (!isBy(read, keyThumbprint(before.manifest.root)))
    throw new VerificationError('root_not_trusted', `key manifest ${number} is not signed by the root key`);
  await checkSignature(read, number, verifySignature);
  return trusted(read);
}

/** Checks a manifest that is trusted because of where it was kept: that it is signed by the key that it names itself. */
export async function verifyKeptKeyManifest(
  message: Uint8Array,
  verifySignature?: VerifySignature,
): Promise<TrustedKeyManifest> {
  const read = readKeyManifest(message);
  await checkSignature(read, read.manifest.number, verifySignature);
  return trusted(read);
}

/** The keys of a manifest that evidence may be signed with, for a verifier's own structures; others sign none, in any role. */
export function manifestJwks(manifest: KeyManifest, roles: readonly string[], states?: readonly string[]): PublicJwk[] {
  return manifest.keys
    .filter(({ algorithm }) => EVIDENCE_ALGORITHMS.some(({ name }) => name === algorithm))
    .filter(({ role, state }) => roles.includes(role) && (states?.includes(state) ?? state !== 'revoked'))
    .map(({ jwk, keyId }) => ({ ...jwk, kid: keyId }) as unknown as PublicJwk);
}
