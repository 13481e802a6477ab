import { MAX_CHAIN } from '../core/cose/x5chain.js';
import { type Certificate, isSameCertificate } from '../platform/x509/certificate.js';
import { assertPath, hasNameConstraints, isIssuedBy, namesIssuer } from '../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';
import { assertDidX509, isDidX509 } from './did-x509.js';
import { STATEMENT_SIGNER } from './statement-signer.js';

/**
 * The most trusted authorities with one name. There may be several while an authority changes its keys. A chain names
 * its issuer only by name, so each authority of that name costs a signature check.
 */
export const MOST_OF_ONE_NAME = 16;

/** The chain may be valid, but leads to no trusted authority. */
export class AuthorityUnknown extends CertificateUnusable {}

/**
 * Checks that a chain, the signer's certificate first, leads to one of these authorities, and that its first
 * certificate names this issuer: as one of its names or, if the issuer is a did:x509, by that method's rules. Returns
 * the authority's index in the list.
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
  const place = authorityAbove(top, authorities);
  const authority = authorities[place]!;
  const path = isSameCertificate(authority, top) ? chain : [...chain, authority];
  assertPath(path, STATEMENT_SIGNER, atMs);
  if (isDidX509(issuer)) assertDidX509(issuer, path);
  else if (!namesOf(signer, path).includes(issuer))
    throw new CertificateUnusable(
      "the issuer (1) is not among the names in the signer's certificate: it has to be one of its URIs, DNS names and mail addresses or, without name constraints, its common name; or a did:x509 of the chain",
    );
  return place;
}

function authorityAbove(top: Certificate, authorities: readonly Certificate[]): number {
  const same = authorities.findIndex((authority) => isSameCertificate(authority, top));
  if (same >= 0) return same;
  let tried = 0;
  for (const [place, authority] of authorities.entries()) {
    if (!namesIssuer(top, authority)) continue;
    tried += 1;
    if (tried > MOST_OF_ONE_NAME)
      throw new AuthorityUnknown(`more than ${MOST_OF_ONE_NAME} trusted authorities have the name of its issuer`);
    if (isIssuedBy(top, authority)) return place;
  }
  throw new AuthorityUnknown(
    "the chain leads to no trusted authority: it has to begin with the signer's certificate, each certified by the next, and the last by a trusted authority",
  );
}

/**
 * The names in a certificate: the URIs, DNS names and mail addresses of its alternative names, and its common name.
 * Name constraints do not cover common names that are URIs, so a common name is ignored if there are constraints.
 */
function namesOf({ subject, extensions }: Certificate, path: readonly Certificate[]): readonly string[] {
  const alternative = (extensions.alternativeNames ?? []).flatMap((name) => ('text' in name ? [name.text] : []));
  return hasNameConstraints(path) ? alternative : [...alternative, ...subject.commonNames];
}
