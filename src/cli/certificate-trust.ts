import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { CertificateTrust } from '../core/verify/trust.js';
import { systemClock } from '../platform/clock.js';
import { type Certificate, readCertificate } from '../platform/x509/certificate.js';
import { assertAuthority } from '../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';
import { AuthorityUnknown, authorityOfIssuer } from '../scitt/certificate-chain.js';
import { issuerKey, KeyUnusable } from '../scitt/issuer-key.js';
import { readInput } from './read-input.js';

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

async function authoritiesIn(path: string): Promise<Certificate[]> {
  const bytes = await readInput(path);
  const pems = new TextDecoder().decode(bytes).match(CERTIFICATES);
  try {
    const certificates = pems ? pems.map(readCertificate) : [readCertificate(bytes)];
    certificates.forEach(assertAuthority);
    return certificates;
  } catch (error) {
    if (error instanceof CertificateUnusable) throw new UsageError(`no authority in ${path}: ${error.message}`);
    throw error;
  }
}

/** Reads `--at`, Unix milliseconds; the present without it. @throws {UsageError} */
export function certificateTime(text: string | undefined): number {
  if (text === undefined) return systemClock.now();
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new UsageError('--at must be a time such as 2026-01-31T12:00:00Z');
  return at;
}

/**
 * Trust in the authorities in these files (PEM, several in one allowed, or DER).
 * @param atMs when certificates must be valid, as `certificateTime` reads it
 * @throws {UsageError}
 */
export async function certificateTrust(paths: readonly string[], atMs: number): Promise<CertificateTrust> {
  const authorities = (await Promise.all(paths.map(authoritiesIn))).flat();
  return {
    atMs,
    keyOfChain(chain, issuer, atMs) {
      try {
        const certificates = chain.map((each) => readCertificate(each));
        authorityOfIssuer(certificates, authorities, issuer, atMs);
        return issuerKey(certificates[0]!.x509.publicKey).jwk;
      } catch (error) {
        if (!(error instanceof CertificateUnusable || error instanceof KeyUnusable)) throw error;
        const code = error instanceof AuthorityUnknown ? 'issuer_key_not_trusted' : 'certificate_invalid';
        throw new VerificationError(code, `x5chain: ${error.message} (${new Date(atMs).toISOString()})`);
      }
    },
  };
}
