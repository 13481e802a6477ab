import type { X509Certificate } from 'node:crypto';
import { type Certificate, isSameCertificate, readCertificate } from '../../platform/x509/certificate.js';
import { assertPath, isIssuedBy } from '../../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../../platform/x509/certificate-unusable.js';
import { TLS_CLIENT } from '../../platform/x509/purpose.js';

/** Maximum number of certificates between a client's and the registered authority. */
const MAX_INTERMEDIATES = 3;

/** A client's certificate and the intermediate certificates that it sent, the client's own first. */
export type ClientChain = readonly [X509Certificate, ...X509Certificate[]];

/** Reads a certificate that OpenSSL has read. @throws {CertificateUnusable} */
type ReadCertificate = (x509: X509Certificate) => Certificate;

/** Returns the certificates that a client sent, each issued by the next; a longer chain is cut. */
export function readClientChain(leaf: X509Certificate): ClientChain {
  const chain: [X509Certificate, ...X509Certificate[]] = [leaf];
  while (chain.length <= MAX_INTERMEDIATES) {
    const last = chain.at(-1)!;
    const issuer = last.issuerCertificate;
    if (!issuer || issuer.fingerprint256 === last.fingerprint256) break;
    chain.push(issuer);
  }
  return chain;
}

/**
 * Returns whether the authority vouches for the client at this time: the path to it is valid (RFC 5280 section 6.1,
 * without revocation lists), and the client's certificate names a subject and may be used by TLS clients.
 */
export function vouchesFor(
  authority: X509Certificate,
  chain: ClientChain,
  nowMs: number,
  read: ReadCertificate = ({ raw }) => readCertificate(raw),
): boolean {
  if (!chain[0].subject) return false;
  try {
    const path = pathTo(read(authority), chain, read);
    if (!path) return false;
    assertPath(path, TLS_CLIENT, nowMs);
    return true;
  } catch (error) {
    if (error instanceof CertificateUnusable) return false;
    throw error;
  }
}

/** The client's chain up to the first certificate that the authority issued, and the authority. */
function pathTo(authority: Certificate, chain: ClientChain, read: ReadCertificate): readonly Certificate[] | undefined {
  const path: Certificate[] = [];
  for (const sent of chain) {
    const certificate = read(sent);
    path.push(certificate);
    if (!isSameCertificate(certificate, authority) && isIssuedBy(certificate, authority)) return [...path, authority];
  }
  return undefined;
}
