import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';
import { HashAlgorithm } from './algorithms.js';
import type { CborValue } from './cbor.js';
import { Header } from './labels.js';
import type { Sign1 } from './sign1.js';

type Headers = Pick<Sign1, 'protectedHeader' | 'unprotectedHeader'>;

/** Certificates of a chain, the authority's own not counted. */
export const MAX_CHAIN = 8;

function invalid(reason: string): VerificationError {
  return new VerificationError('certificate_invalid', `x5chain (33): ${reason}`);
}

/** Whether a message names its signer by certificates, beside it or by their hash. */
export function namesCertificate({ protectedHeader, unprotectedHeader }: Headers): boolean {
  return (
    protectedHeader.has(Header.x5chain) || unprotectedHeader.has(Header.x5chain) || protectedHeader.has(Header.x5t)
  );
}

/**
 * The certificates (DER) that a message brings for its signer, the signer's first (RFC 9360 section 2); nothing in them is
 * checked. An unprotected chain counts only with a protected x5t (34), SHA-256, that names its first certificate.
 * @throws {VerificationError} `certificate_invalid`
 */
export function certificateChain({ protectedHeader, unprotectedHeader }: Headers): readonly Uint8Array[] {
  const value = protectedHeader.get(Header.x5chain) ?? unprotectedHeader.get(Header.x5chain);
  const list = Array.isArray(value) ? value : [value];
  const isCertificate = (each: CborValue | undefined): each is Uint8Array => each instanceof Uint8Array;
  if (list.length === 0 || list.length > MAX_CHAIN || !list.every(isCertificate))
    throw invalid(`it must hold 1 to ${MAX_CHAIN} certificates`);
  if (!protectedHeader.has(Header.x5chain)) checkThumbprint(protectedHeader.get(Header.x5t), list[0]!);
  return list;
}

function checkThumbprint(x5t: CborValue | undefined, certificate: Uint8Array): void {
  const [algorithm, hash] = Array.isArray(x5t) ? x5t : [];
  if (algorithm !== HashAlgorithm.sha256 || !(hash instanceof Uint8Array) || !equalBytes(hash, sha256(certificate)))
    throw invalid('it is unprotected, and no protected x5t (34) with SHA-256 names its first certificate');
}
