import { X509Certificate } from 'node:crypto';
import { toHex } from '../core/bytes.js';
import { type DerElement, DerError, DerTag, derElements, derMembers } from './der.js';
import { type IssuerKey, issuerKey, KeyUnusable } from './issuer-key.js';

/** A certificate and what of it decides whether a chain holds (RFC 5280). */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly key: IssuerKey;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isAuthority: boolean;
  /** How many authorities may stand below this one; undefined for any number. */
  readonly pathLength: number | undefined;
  readonly mayCertify: boolean;
  /** Its key usage and purposes allow signatures on statements. */
  readonly maySign: boolean;
  /** Whom it names: URIs, DNS names and addresses of its alternative names, and its common name. */
  readonly names: readonly string[];
}

/** Not a certificate, or one with a rule that is not understood. */
export class CertificateUnusable extends Error {
  override readonly name = 'CertificateUnusable';
}

/** Extensions by the hex of their object identifiers (RFC 5280 section 4.2.1). */
const EXTENSION = {
  keyUsage: '551d0f',
  alternativeNames: '551d11',
  basicConstraints: '551d13',
  purposes: '551d25',
} as const;
/** Bits of a key usage, from the left. */
const DIGITAL_SIGNATURE = 0;
const CERTIFICATE_SIGN = 5;
/** Any purpose, code signing, mail protection, document signing: statements are none of the others. */
const PURPOSES = ['551d2500', '2b06010505070303', '2b06010505070304', '2b06010505070324'];
/** Tags of the alternative names that are texts: mail address, DNS name, URI. */
const TEXT_NAMES = [0x81, 0x82, 0x86];

interface Extension {
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/**
 * Reads a certificate, DER or PEM. A critical extension that is not understood, such as name constraints, refuses it.
 * @throws {CertificateUnusable}
 */
export function readCertificate(bytes: Uint8Array | string): Certificate {
  try {
    const x509 = new X509Certificate(bytes);
    return describe(x509, extensionsOf(x509.raw));
  } catch (error) {
    if (error instanceof CertificateUnusable) throw error;
    if (error instanceof KeyUnusable) throw new CertificateUnusable(`its key cannot be used: ${error.message}`);
    throw new CertificateUnusable('it cannot be read');
  }
}

function describe(x509: X509Certificate, extensions: ReadonlyMap<string, Extension>): Certificate {
  const known: readonly string[] = Object.values(EXTENSION);
  const strange = [...extensions].find(([oid, { critical }]) => critical && !known.includes(oid));
  if (strange) throw new CertificateUnusable('it has a critical extension that is not understood');
  const usage = extensions.get(EXTENSION.keyUsage);
  const constraints = basicConstraints(extensions.get(EXTENSION.basicConstraints));
  return {
    x509,
    key: issuerKey(x509.publicKey),
    notBeforeMs: Date.parse(x509.validFrom),
    notAfterMs: Date.parse(x509.validTo),
    ...constraints,
    mayCertify: constraints.isAuthority && (!usage || hasBit(usage.value, CERTIFICATE_SIGN)),
    maySign: (!usage || hasBit(usage.value, DIGITAL_SIGNATURE)) && hasPurpose(extensions.get(EXTENSION.purposes)),
    names: [...alternativeNames(extensions.get(EXTENSION.alternativeNames)), ...commonNames(x509)],
  };
}

/** By the hex of their object identifiers. Bounded by the certificate's own length. */
function extensionsOf(der: Uint8Array): Map<string, Extension> {
  const [certificate] = derElements(der);
  const [toBeSigned] = derMembers(certificate, DerTag.sequence);
  const wrapper = derMembers(toBeSigned, DerTag.sequence).find(({ tag }) => tag === 0xa3);
  if (!wrapper) return new Map();
  const [list] = derElements(wrapper.content);
  const extensions = new Map<string, Extension>();
  for (const element of derMembers(list, DerTag.sequence)) {
    const [oid, ...rest] = derMembers(element, DerTag.sequence);
    const value = rest.at(-1);
    if (oid?.tag !== DerTag.oid || value?.tag !== DerTag.octetString) throw new DerError('not an extension');
    const name = toHex(oid.content);
    if (extensions.has(name)) throw new DerError('one extension twice');
    extensions.set(name, { critical: rest.length === 2 && rest[0]!.content[0] !== 0, value: value.content });
  }
  return extensions;
}

function basicConstraints(extension: Extension | undefined): Pick<Certificate, 'isAuthority' | 'pathLength'> {
  if (!extension) return { isAuthority: false, pathLength: undefined };
  const members = derMembers(derElements(extension.value)[0], DerTag.sequence);
  const isAuthority = members[0]?.tag === DerTag.boolean && members[0].content[0] !== 0;
  const length = members.find(({ tag }) => tag === 0x02);
  return { isAuthority, pathLength: length && Number.parseInt(toHex(length.content), 16) };
}

function hasBit(value: Uint8Array, bit: number): boolean {
  const [element] = derElements(value);
  if (element?.tag !== DerTag.bitString) throw new DerError('not a bit string');
  const byte = element.content[1 + (bit >> 3)] ?? 0;
  return ((byte >> (7 - (bit & 7))) & 1) === 1;
}

function hasPurpose(extension: Extension | undefined): boolean {
  if (!extension) return true;
  const purposes = derMembers(derElements(extension.value)[0], DerTag.sequence);
  return purposes.some(({ content }) => PURPOSES.includes(toHex(content)));
}

function alternativeNames(extension: Extension | undefined): string[] {
  if (!extension) return [];
  const names: DerElement[] = derMembers(derElements(extension.value)[0], DerTag.sequence);
  return names
    .filter(({ tag }) => TEXT_NAMES.includes(tag))
    .map(({ content }) => Buffer.from(content).toString('latin1'));
}

function commonNames(x509: X509Certificate): string[] {
  const { CN } = x509.toLegacyObject().subject as { CN?: string | string[] };
  return CN === undefined ? [] : [CN].flat();
}
