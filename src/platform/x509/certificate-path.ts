import { type Certificate, isSelfIssued } from './certificate.js';
import { ExtensionId } from './certificate-extensions.js';
import { CertificateUnusable } from './certificate-unusable.js';
import type { GeneralName } from './general-name.js';
import { assertNamesAllowed } from './name-constraints.js';
import { ExtendedKeyUsage, KeyUsage, type Purpose } from './purpose.js';

/** A host name in the form that certificates without alternative names use as their common name. */
const HOST_NAME = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\.?$/i;

function isEmptyName({ subject }: Certificate): boolean {
  return subject.parts.length === 0;
}

/** Checks what RFC 5280 section 4.2.1 forbids in any certificate. */
function assertProfile(certificate: Certificate): void {
  const { issuer, extensions } = certificate;
  const { basicConstraints, keyUsage, alternativeNames, critical } = extensions;
  const isAuthority = basicConstraints?.isAuthority ?? false;
  const wrong = [
    issuer.parts.length === 0,
    isEmptyName(certificate) && (isAuthority || !alternativeNames || !critical.has(ExtensionId.alternativeNames)),
    alternativeNames?.length === 0,
    !isAuthority && basicConstraints?.pathLength !== undefined,
    !isAuthority && keyUsage?.has(KeyUsage.certificateSign),
    critical.has(ExtensionId.authorityKeyIdentifier),
    critical.has(ExtensionId.subjectKeyIdentifier),
  ];
  if (wrong.includes(true)) throw new CertificateUnusable('a certificate of the chain contradicts itself (RFC 5280)');
}

/**
 * Checks that a certificate may issue others, and that checks under its key are cheap and mean something.
 * @throws {CertificateUnusable}
 */
export function assertAuthority({ version, extensions, hasAcceptedKey }: Certificate): void {
  const { basicConstraints, keyUsage } = extensions;
  const mayCertify =
    version === 3 && basicConstraints?.isAuthority && (keyUsage?.has(KeyUsage.certificateSign) ?? true);
  if (!mayCertify) throw new CertificateUnusable('it may not certify others');
  if (!hasAcceptedKey)
    throw new CertificateUnusable(
      'it must have an RSA key of 2048 to 8192 bits with an exponent below 2^32, or one of a common curve',
    );
}

/** The names of these values, in a refusal: "codeSigning or emailProtection". */
function namesIn<Value>(known: Readonly<Record<string, Value>>, values: readonly Value[]): string {
  const names = Object.keys(known).filter((name) => values.includes(known[name]!));
  return names.join(' or ');
}

function assertFor({ extensions: { purposes } }: Certificate, purpose: Purpose, what: string): void {
  if (!purposes || purpose.purposes.some((each) => purposes.has(each))) return;
  const accepted = namesIn(ExtendedKeyUsage, purpose.purposes);
  throw new CertificateUnusable(`${what}: its extended key usage must include ${accepted}`);
}

function assertSubscriber(certificate: Certificate, purpose: Purpose): void {
  const { basicConstraints, keyUsage } = certificate.extensions;
  if (basicConstraints?.isAuthority) throw new CertificateUnusable("the signer's certificate is an authority's");
  const what = `the signer's certificate is not for ${purpose.use}`;
  if (keyUsage && !purpose.keyUsages.some((bit) => keyUsage.has(bit)))
    throw new CertificateUnusable(`${what}: its key usage must include ${namesIn(KeyUsage, purpose.keyUsages)}`);
  assertFor(certificate, purpose, what);
}

function assertIssuer(certificate: Certificate, below: readonly Certificate[], purpose: Purpose): void {
  try {
    assertAuthority(certificate);
  } catch {
    throw new CertificateUnusable('a certificate of the chain may not certify others');
  }
  assertFor(certificate, purpose, `an authority of the chain is not for ${purpose.use}`);
  const { pathLength } = certificate.extensions.basicConstraints!;
  // A certificate that an authority issued to itself, to change its key, does not count towards the path length (RFC
  // 5280 section 6.1.4).
  if (pathLength !== undefined && below.filter((each) => !isSelfIssued(each)).length > pathLength)
    throw new CertificateUnusable('the chain is longer than an authority allows');
}

/** All names that a certificate gives its subject, including the common name if it has no DNS names. */
function namesOf(certificate: Certificate, isSubscriber: boolean): readonly GeneralName[] {
  const { subject, extensions } = certificate;
  const alternative = extensions.alternativeNames ?? [];
  const hasDns = alternative.some(({ kind }) => kind === 'dns');
  const hosts = isSubscriber && !hasDns ? subject.commonNames.filter((text) => HOST_NAME.test(text)) : [];
  return [
    ...alternative,
    ...(isEmptyName(certificate) ? [] : [{ kind: 'directory', name: subject } as const]),
    ...subject.mailAddresses.map((text) => ({ kind: 'mail', text }) as const),
    ...hosts.map((text) => ({ kind: 'dns', text }) as const),
  ];
}

function assertNames(path: readonly Certificate[]): void {
  for (const [depth, certificate] of path.entries()) {
    if (depth > 0 && isSelfIssued(certificate)) continue;
    for (const { extensions } of path.slice(depth + 1))
      if (extensions.nameConstraints) assertNamesAllowed(namesOf(certificate, depth === 0), extensions.nameConstraints);
  }
}

/** Whether any authority of a path restricts the names below it. */
export function hasNameConstraints(path: readonly Certificate[]): boolean {
  return path.some(({ extensions }) => extensions.nameConstraints !== undefined);
}

/** Whether one certificate names the other as its issuer. */
export function namesIssuer(certificate: Certificate, issuer: Certificate): boolean {
  return certificate.x509.checkIssued(issuer.x509);
}

/** Whether one certificate names the other as its issuer and has its signature. */
export function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  return namesIssuer(certificate, issuer) && certificate.x509.verify(issuer.x509.publicKey);
}

/**
 * Checks a path (RFC 5280 section 6.1). Every certificate must be valid at this time, signed by the next one with an
 * algorithm that is still trusted, and within the names, path length and purposes of all certificates above it. The
 * same holds for the trust anchor, except for the signature. Every policy is accepted. Revocation is not checked: the
 * verifier fetches nothing from URLs in a certificate.
 * @param path the subscriber's certificate first, the trust anchor last
 * @throws {CertificateUnusable}
 */
export function assertPath(path: readonly Certificate[], purpose: Purpose, atMs: number): void {
  for (const [depth, certificate] of path.entries()) {
    // The last moment is part of the validity (RFC 5280 section 4.1.2.5).
    if (atMs < certificate.notBeforeMs || atMs > certificate.notAfterMs)
      throw new CertificateUnusable('a certificate of the chain is not valid at this time');
    if (!certificate.hasAcceptedKey)
      throw new CertificateUnusable('a certificate of the chain has a key of a kind or size that is not accepted');
    if (depth === 0) assertSubscriber(certificate, purpose);
    else assertIssuer(certificate, path.slice(1, depth), purpose);
    assertProfile(certificate);
  }
  for (const [depth, certificate] of path.slice(0, -1).entries()) {
    if (!isIssuedBy(certificate, path[depth + 1]!))
      throw new CertificateUnusable('a certificate of the chain is not signed by the next');
    if (!certificate.hasStrongSignature)
      throw new CertificateUnusable('a certificate of the chain has a signature that is too weak');
  }
  assertNames(path);
}
