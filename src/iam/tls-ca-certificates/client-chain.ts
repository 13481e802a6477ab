import type { X509Certificate } from 'node:crypto';
import { certificateLimits } from './certificate-extensions.js';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
/** Certificates between a client's and the registered authority that are followed. */
export const MAX_INTERMEDIATES = 3;

/** A client's certificate and those that it sent to vouch for it, the client's own first. */
export type ClientChain = readonly [X509Certificate, ...X509Certificate[]];

/** The certificates that a client sent, each issued by the next; a longer chain is cut. */
export function readClientChain(leaf: X509Certificate): ClientChain {
  const chain: [X509Certificate, ...X509Certificate[]] = [leaf];
  while (chain.length <= MAX_INTERMEDIATES) {
    const last = chain.at(-1)!;
    const issuer = last.issuerCertificate;
    if (!issuer || isSame(issuer, last)) break;
    chain.push(issuer);
  }
  return chain;
}

/**
 * Whether the authority vouches for the client at this time (RFC 5280 section 6.1, without names, policies and revocation
 * lists): every certificate up to it is in its validity and signed by the next, all but the client's are authorities within
 * their path lengths, and the client's is one of a client and of nobody else.
 */
export function vouchesFor(authority: X509Certificate, chain: ClientChain, nowMs: number): boolean {
  if (!isClient(chain[0]) || !isAuthority(authority, nowMs)) return false;
  for (const [place, certificate] of chain.entries()) {
    if (!isUsable(certificate, nowMs)) return false;
    if (place > 0 && !(isAuthority(certificate, nowMs) && reaches(certificate, place - 1))) return false;
    if (isIssuedBy(certificate, authority)) return reaches(authority, place);
    const next = chain[place + 1];
    if (!next || !isIssuedBy(certificate, next)) return false;
  }
  return false;
}

function isClient(certificate: X509Certificate): boolean {
  // Node calls the extended key usage keyUsage; a certificate without one is for anything, and so for nothing here.
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return !certificate.ca && !!certificate.subject && (usages?.includes(CLIENT_AUTH) ?? false);
}

function isAuthority(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.ca && isUsable(certificate, nowMs);
}

function isUsable(certificate: X509Certificate, nowMs: number): boolean {
  const inTime = Date.parse(certificate.validFrom) <= nowMs && nowMs < Date.parse(certificate.validTo);
  return inTime && limitsOf(certificate)?.unknownCritical === false;
}

/** @param below how many authorities stand between this one and the client's certificate */
function reaches(authority: X509Certificate, below: number): boolean {
  const limits = limitsOf(authority);
  return limits !== undefined && (limits.pathLength === undefined || below <= limits.pathLength);
}

function limitsOf(certificate: X509Certificate) {
  try {
    return certificateLimits(certificate.raw);
  } catch {
    return undefined;
  }
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return !isSame(certificate, issuer) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isSame(left: X509Certificate, right: X509Certificate): boolean {
  return left.fingerprint256 === right.fingerprint256;
}
