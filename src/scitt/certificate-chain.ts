import { MAX_CHAIN } from '../core/cose/x5chain.js';
import { type Certificate, isSameCertificate } from '../platform/x509/certificate.js';
import { assertPath, hasNameConstraints, isIssuedBy } from '../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';
import { STATEMENT_SIGNER } from './statement-signer.js';

/** The chain may be valid, but leads to no trusted authority. */
export class AuthorityUnknown extends CertificateUnusable {}

/**
 * Checks that a chain, the signer's certificate first, leads to one of these authorities, and that its first
 * certificate names this issuer. Returns the authority's index in the list.
 * @throws {CertificateUnusable}
 */
export function authorityOfIssuer(
  chain: readonly Certificate[],
  authorities: readonly Certificate[],
  issuer: string,
  atMs: number,
): number {
  const [signer] = chain;
  if (!signer || chain.length > MAX_CHAIN) throw new CertificateUnusable(`a chain has 1 to ${MAX_CHAIN} certificates`);
  const top = chain.at(-1)!;
  const place = authorities.findIndex((authority) => isSameCertificate(authority, top) || isIssuedBy(top, authority));
  const authority = authorities[place];
  if (!authority) throw new AuthorityUnknown('the chain leads to no trusted authority');
  const path = isSameCertificate(authority, top) ? chain : [...chain, authority];
  assertPath(path, STATEMENT_SIGNER, atMs);
  if (!namesOf(signer, path).includes(issuer))
    throw new CertificateUnusable("the issuer (1) is not among the names in the signer's certificate");
  return place;
}

/**
 * The names in a certificate: the URIs, DNS names and mail addresses of its alternative names, and its common name.
 * Name constraints do not cover common names that are URIs, so a common name is ignored if there are constraints.
 */
function namesOf({ subject, extensions }: Certificate, path: readonly Certificate[]): readonly string[] {
  const alternative = (extensions.alternativeNames ?? []).flatMap((name) => ('text' in name ? [name.text] : []));
  return hasNameConstraints(path) ? alternative : [...alternative, ...subject.commonNames];
}
