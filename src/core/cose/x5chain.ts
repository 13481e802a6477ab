import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { HashAlgorithm } from './algorithms.js';
import type { CborValue } from './cbor.js';
import { Header } from './labels.js';
import type { Sign1 } from './sign1.js';

type Headers = Pick<Sign1, 'protectedHeader' | 'unprotectedHeader'>;

/** The most certificates in a chain, not counting the authority's own. */
export const MAX_CHAIN = 8;

/** The hashes that an x5t may be made with, by their COSE numbers. */
const THUMBPRINTS = new Map<unknown, (certificate: Uint8Array) => Uint8Array>([
  [HashAlgorithm.sha256, sha256],
  [HashAlgorithm.sha384, sha384],
  [HashAlgorithm.sha512, sha512],
]);

function invalid(reason: string): VerificationError {
  return new VerificationError('certificate_invalid', `x5chain (33): ${reason}`);
}

/** Returns whether a message names its signer by certificates: it carries them, or their hash. */
export function namesCertificate({ protectedHeader, unprotectedHeader }: Headers): boolean {
  return (
    protectedHeader.has(Header.x5chain) || unprotectedHeader.has(Header.x5chain) || protectedHeader.has(Header.x5t)
  );
}

/**
 * Returns the certificates (DER) that a message carries for its signer, the signer's first (RFC 9360 section 2). Their
 * content is not checked. A protected x5t (34) must name the first certificate; an unprotected chain is accepted only
 * with one.
 * @throws {VerificationError} `certificate_invalid`
 */
export function certificateChain({ protectedHeader, unprotectedHeader }: Headers): readonly Uint8Array[] {
  const value = protectedHeader.get(Header.x5chain) ?? unprotectedHeader.get(Header.x5chain);
  const list = Array.isArray(value) ? value : [value];
  const isCertificate = (each: CborValue | undefined): each is Uint8Array => each instanceof Uint8Array;
  if (list.length === 0 || list.length > MAX_CHAIN || !list.every(isCertificate))
    throw invalid(`it must hold 1 to ${MAX_CHAIN} certificates`);
  const isNamed = protectedHeader.has(Header.x5t);
  if (!isNamed && !protectedHeader.has(Header.x5chain))
    throw invalid('it is unprotected, and no protected x5t (34) names its first certificate');
  if (isNamed) checkThumbprint(protectedHeader.get(Header.x5t), list[0]!);
  return list;
}

function checkThumbprint(x5t: CborValue | undefined, certificate: Uint8Array): void {
  const [algorithm, thumbprint] = Array.isArray(x5t) ? x5t : [];
  const hash = THUMBPRINTS.get(algorithm);
  if (!hash) throw invalid('the algorithm of x5t (34) must be -16, -43 or -44 (SHA-256, SHA-384 or SHA-512)');
  if (!(thumbprint instanceof Uint8Array) || !equalBytes(thumbprint, hash(certificate)))
    throw invalid('x5t (34) names another certificate than its first one');
}
