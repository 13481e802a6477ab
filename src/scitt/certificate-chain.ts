import { MAX_CHAIN } from '../core/cose/x5chain.js';
import { type Certificate, isSameCertificate } from '../platform/x509/certificate.js';
import { assertPath, hasNameConstraints, isIssuedBy } from '../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';
import { STATEMENT_SIGNER } from '../platform/x509/purpose.js';

/** A chain that may be sound, and leads to nobody who is trusted. */
export class AuthorityUnknown extends CertificateUnusable {}

/**
 * Checks that a chain, the signer's certificate first, leads to one of these authorities and that its first certificate
 * names this issuer. Returns the authority's place in the list.
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
  if (!authority) throw new AuthorityUnknown('the chain leads to no authority that is trusted');
  const path = isSameCertificate(authority, top) ? chain : [...chain, authority];
  assertPath(path, STATEMENT_SIGNER, atMs);
  if (!namesOf(signer, path).includes(issuer))
    throw new CertificateUnusable("the issuer (1) is none of the names in the signer's certificate");
  return place;
}

/**
 * The names by which a certificate speaks: URIs, DNS names and mail addresses of its alternative names, and its common
 * name. Constraints on names do not reach common names that are URIs, so under them a common name counts for nothing.
 */
function namesOf({ subject, extensions }: Certificate, path: readonly Certificate[]): readonly string[] {
  const alternative = (extensions.alternativeNames ?? []).flatMap((name) => ('text' in name ? [name.text] : []));
  return hasNameConstraints(path) ? alternative : [...alternative, ...subject.commonNames];
}
