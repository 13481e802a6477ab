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
import { stepFault } from './manifest-steps.js';
import { type ReadKeyManifest, readKeyManifest } from './read-key-manifest.js';

const MOST_MANIFESTS = 1000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Initial byte of a tagged COSE_Sign1; a list of manifests is an array. */
const SIGN1_START = 0xc0 + SIGN1_TAG;
const UNDERSTOOD = [Header.alg, Header.contentType, Header.kid, Header.claims];

/** A manifest whose root is trusted and whose signature is checked. */
export interface TrustedKeyManifest extends Pick<ReadKeyManifest, 'manifest' | 'signer' | 'bytes'> {
  /** SHA-256 of the manifest as the keys log holds it. */
  readonly hash: Uint8Array;
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

function trusted({ manifest, signer, bytes }: ReadKeyManifest): TrustedKeyManifest {
  return { manifest, signer, bytes, hash: sha256(bytes) };
}

function isBy({ signer }: Pick<ReadKeyManifest, 'signer'>, thumbprint: Uint8Array): boolean {
  return equalBytes(keyThumbprint(signer), thumbprint);
}

function requireRoot(read: Pick<ReadKeyManifest, 'manifest' | 'signer'>, thumbprint: Uint8Array): void {
  if (isBy(read, thumbprint)) return;
  const what = `key manifest ${read.manifest.number}`;
  throw new VerificationError('root_not_trusted', `${what} is not signed by the root key of its time`);
}

/** Returns whether one of these manifests names the root key as its signer. No signature is checked. */
export function areUnderRoot(manifests: readonly ReadKeyManifest[], rootThumbprint: Uint8Array): boolean {
  return manifests.some((each) => isBy(each, rootThumbprint));
}

/**
 * Checks that two manifests of one history agree, whatever is between them.
 * @throws {VerificationError} `manifest_older`, `manifest_invalid`
 */
export function checkFollows(
  { manifest }: Pick<ReadKeyManifest, 'manifest'>,
  before: Pick<TrustedKeyManifest, 'manifest' | 'hash'>,
): void {
  const { number, previous, subject, issuedAtMs, firstIssuedAtMs } = manifest;
  const last = before.manifest;
  const [later, earlier] = [`key manifest ${number}`, `key manifest ${last.number}`];
  const refuse = (why: string) => new VerificationError('manifest_invalid', why);
  if (number <= last.number) throw new VerificationError('manifest_older', `${later} comes after ${last.number}`);
  if (subject !== last.subject) throw refuse(`${later} belongs to another deployment than ${earlier}`);
  if (number === last.number + 1 && !(previous && equalBytes(previous, before.hash)))
    throw refuse(`${later} does not follow manifest ${last.number}: the root key has signed two histories`);
  if (issuedAtMs < last.issuedAtMs) throw refuse(`${later} was made before ${earlier}`);
  if (firstIssuedAtMs !== last.firstIssuedAtMs)
    throw refuse(`${later} and ${earlier} do not agree on when the first manifest was made`);
  const fault = stepFault(manifest, last);
  if (fault !== undefined) throw refuse(`${later} contradicts ${earlier}: ${fault}`);
}

/**
 * Checks manifests against the thumbprint of a root key. Resolves with them in rising order, the newest last. Each
 * rotation of the root in between must be there: the manifest that names the new root, signed by the old one. Manifests
 * before the first one that this root signed are ignored.
 * @param manifests as `decodeKeyManifests` returns them
 * @throws {VerificationError} `root_not_trusted`, `manifest_signature_invalid`, `manifest_invalid`
 */
export async function verifyKeyManifests(
  manifests: readonly ReadKeyManifest[],
  rootThumbprint: Uint8Array,
  verifySignature?: VerifySignature,
): Promise<readonly TrustedKeyManifest[]> {
  const first = manifests.findIndex((each) => isBy(each, rootThumbprint));
  if (first < 0)
    throw new VerificationError(
      'root_not_trusted',
      'the key manifest is not signed by the root key that has this fingerprint',
    );
  const chain: TrustedKeyManifest[] = [];
  for (const read of manifests.slice(first)) {
    const before = chain.at(-1);
    requireRoot(read, before ? keyThumbprint(before.manifest.root) : rootThumbprint);
    if (before) checkFollows(read, before);
    await checkSignature(read, read.manifest.number, verifySignature);
    chain.push(trusted(read));
  }
  return chain;
}

/**
 * Joins the results of `verifyKeyManifests` for several files in one order. A root key signs one history: manifests
 * that cannot be of one history are refused, also if they are not the newest.
 * @throws {VerificationError} `manifest_invalid`, `root_not_trusted`
 */
export function joinKeyManifests(chains: readonly (readonly TrustedKeyManifest[])[]): readonly TrustedKeyManifest[] {
  const joined: TrustedKeyManifest[] = [];
  for (const each of chains.flat().sort((one, other) => one.manifest.number - other.manifest.number)) {
    const before = joined.at(-1);
    if (before?.manifest.number === each.manifest.number) {
      requireSame(each, before);
      continue;
    }
    if (before) {
      requireRoot(each, keyThumbprint(before.manifest.root));
      checkFollows(each, before);
    }
    joined.push(each);
  }
  return joined;
}

/**
 * Checks that manifests with the same number are the same.
 * @throws {VerificationError} `manifest_invalid` if they differ
 */
export function requireSame(
  one: Pick<ReadKeyManifest, 'manifest' | 'bytes'>,
  other: Pick<ReadKeyManifest, 'bytes'>,
): void {
  if (equalBytes(one.bytes, other.bytes)) return;
  throw new VerificationError('manifest_invalid', `the root key has signed two key manifests ${one.manifest.number}`);
}

/**
 * Checks that a manifest directly follows another: it has the next number and the hash of the one before, and is signed
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

/**
 * Checks that a manifest is signed by the root key that it names itself. It is trusted because of where it was kept.
 */
export async function verifyKeptKeyManifest(
  message: Uint8Array,
  verifySignature?: VerifySignature,
): Promise<TrustedKeyManifest> {
  const read = readKeyManifest(message);
  await checkSignature(read, read.manifest.number, verifySignature);
  return trusted(read);
}

/**
 * Returns the keys of a manifest that evidence may be signed with, in the form that the verifiers take. Keys with other
 * algorithms sign no evidence, in any role.
 */
export function manifestJwks(manifest: KeyManifest, roles: readonly string[], states?: readonly string[]): PublicJwk[] {
  return manifest.keys
    .filter(({ algorithm }) => EVIDENCE_ALGORITHMS.some(({ name }) => name === algorithm))
    .filter(({ role, state }) => roles.includes(role) && (states?.includes(state) ?? state !== 'revoked'))
    .map(({ jwk, keyId }) => ({ ...jwk, kid: keyId }) as unknown as PublicJwk);
}
