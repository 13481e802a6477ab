import { equalBytes } from '../core/bytes.js';
import { MAX_CHAIN } from '../core/cose/x5chain.js';
import { type Certificate, CertificateUnusable } from './certificate.js';

/** A chain that may be sound, and leads to nobody who is trusted. */
export class AuthorityUnknown extends CertificateUnusable {}

/**
 * Checks that a chain leads to one of these authorities and that its first certificate names this issuer; resolves to the
 * authority's place in the list.
 * @throws {CertificateUnusable}
 */
export function authorityOfIssuer(
  chain: readonly Certificate[],
  authorities: readonly Certificate[],
  issuer: string,
  atMs: number,
): number {
  const place = authorityOfChain(chain, authorities, atMs);
  if (!chain[0]!.names.includes(issuer))
    throw new CertificateUnusable("the issuer (1) is none of the names in the signer's certificate");
  return place;
}

/**
 * Checks that a chain, the signer's certificate first, leads to one of these authorities: every certificate signed by the
 * next and valid at this time, every issuer allowed to certify, the signer's allowed to sign. Resolves to the authority's
 * place in the list. Revocation is not asked for: nothing is fetched on a stranger's word.
 * @throws {CertificateUnusable}
 */
export function authorityOfChain(
  chain: readonly Certificate[],
  authorities: readonly Certificate[],
  nowMs: number,
): number {
  const [signer] = chain;
  if (!signer || chain.length > MAX_CHAIN) throw new CertificateUnusable(`a chain has 1 to ${MAX_CHAIN} certificates`);
  if (signer.isAuthority) throw new CertificateUnusable("the signer's certificate is an authority's");
  if (!signer.maySign) throw new CertificateUnusable("the signer's certificate is not for signing statements");
  const top = chain.at(-1)!;
  const place = authorities.findIndex((authority) => isSame(authority, top) || isIssuedBy(top, authority));
  const authority = authorities[place];
  if (!authority) throw new AuthorityUnknown('the chain leads to no authority that is trusted');
  const path = isSame(authority, top) ? chain : [...chain, authority];
  for (const [depth, certificate] of path.entries()) {
    if (nowMs < certificate.notBeforeMs || nowMs > certificate.notAfterMs)
      throw new CertificateUnusable('a certificate of the chain is not valid at this time');
    const issuer = path[depth + 1];
    if (issuer && !isIssuedBy(certificate, issuer))
      throw new CertificateUnusable('a certificate of the chain is not signed by the next');
    if (depth > 0) checkAuthority(certificate, depth - 1);
  }
  return place;
}

/** @param below how many authorities stand below it in the chain */
function checkAuthority(certificate: Certificate, below: number): void {
  if (!certificate.mayCertify) throw new CertificateUnusable('a certificate of the chain may not certify others');
  if (certificate.pathLength !== undefined && below > certificate.pathLength)
    throw new CertificateUnusable('the chain is longer than an authority allows');
}

function isSame(left: Certificate, right: Certificate): boolean {
  return equalBytes(left.x509.raw, right.x509.raw);
}

function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  return certificate.x509.checkIssued(issuer.x509) && certificate.x509.verify(issuer.x509.publicKey);
}
