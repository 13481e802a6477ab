import { type KeyObject, X509Certificate } from 'node:crypto';
import { equalBytes } from '../../core/bytes.js';
import { type CertificateExtensions, readExtensions } from './certificate-extensions.js';
import { CertificateUnusable } from './certificate-unusable.js';
import { bigInteger, contextTag, type DerElement, inside, readDer, sequence, smallInteger, timeText } from './der.js';
import { type DistinguishedName, isSameName, readName } from './distinguished-name.js';
import { isAcceptedKey, isStrongSignature } from './strength.js';

/** A certificate with the fields that path validation needs (RFC 5280). */
export interface Certificate {
  /** The same certificate as OpenSSL reads it: for its key, its signature and its issuer. */
  readonly x509: X509Certificate;
  readonly version: 1 | 2 | 3;
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  /** Valid from the first time to the second, both included (RFC 5280 section 4.1.2.5). */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly extensions: CertificateExtensions;
  /** The kind and size of its key are accepted. */
  readonly hasAcceptedKey: boolean;
  /** Its own signature uses a hash without known collisions. */
  readonly hasStrongSignature: boolean;
}

/** Larger certificates are refused: real ones are far smaller. */
const MAX_BYTES = 64 * 1024;
const VERSION = 0;
const UNIQUE_IDS: readonly number[] = [1, 2];
const EXTENSIONS = 3;
/** RFC 5280 section 4.1.2.2: 20 octets. */
const MOST_SERIAL = 2n ** 160n - 1n;
const WHOLE_SECOND = /^(?:\d\d){6,7}Z$/;

/** Reads a certificate, DER or one in PEM. @throws {CertificateUnusable} */
export function readCertificate(bytes: Uint8Array | string): Certificate {
  if (bytes.length > MAX_BYTES) throw new CertificateUnusable('it is too large');
  let x509: X509Certificate;
  try {
    x509 = new X509Certificate(bytes);
  } catch {
    throw new CertificateUnusable('it cannot be read');
  }
  const isDer = typeof bytes !== 'string' && bytes[0] === 0x30;
  if (isDer && !equalBytes(x509.raw, bytes)) throw new CertificateUnusable('it cannot be read');
  return describe(x509);
}

function describe(x509: X509Certificate): Certificate {
  const [body, algorithm] = sequence(readDer(x509.raw));
  const members = [...sequence(body)];
  const version = contextTag(members[0]) === VERSION ? 1 + smallInteger(inside(members.shift()!)[0]) : 1;
  const [serial, innerAlgorithm, issuer, validity, subject, publicKey, ...optional] = members;
  if (version < 1 || version > 3) throw new CertificateUnusable('it is of an unknown version');
  if (optional.some((member) => ![...UNIQUE_IDS, EXTENSIONS].includes(contextTag(member) ?? -1)))
    throw new CertificateUnusable('it cannot be read');
  if (!isSameElement(algorithm, innerAlgorithm))
    throw new CertificateUnusable('it names two algorithms for its signature');
  const extensions = optional.find((member) => contextTag(member) === EXTENSIONS);
  if (extensions && version !== 3) throw new CertificateUnusable('it has extensions, and is not of version 3');
  // Parts of a second and offsets, which OpenSSL reads too (RFC 5280 section 4.1.2.5).
  if (!sequence(validity).every((time) => WHOLE_SECOND.test(timeText(time))))
    throw new CertificateUnusable('it cannot be read');
  const [notBeforeMs, notAfterMs] = [timeOf(x509.validFrom), timeOf(x509.validTo)];
  // A comparison with NaN is false, so the certificate would be valid for ever.
  if (Number.isNaN(notBeforeMs) || Number.isNaN(notAfterMs)) throw new CertificateUnusable('it cannot be read');
  const names = { subject: readName(subject), issuer: readName(issuer) };
  requireSerial(bigInteger(serial), isSameName(names.subject, names.issuer));
  return {
    x509,
    version: version as Certificate['version'],
    ...names,
    notBeforeMs,
    notAfterMs,
    extensions: readExtensions(extensions && inside(extensions)[0]),
    hasAcceptedKey: isAcceptedKey(keyOf(x509), publicKey),
    hasStrongSignature: isStrongSignature(algorithm),
  };
}

/** Root certificates of real authorities have the serial number 0; a root has no issuer that could give it a wrong one. */
function requireSerial(serial: bigint, isSelfIssued: boolean): void {
  if (serial < (isSelfIssued ? 0n : 1n) || serial > MOST_SERIAL)
    throw new CertificateUnusable('its serial number is not positive, or is longer than 20 bytes');
}

/** OpenSSL reads a certificate without its key, and the key when it is first needed. @throws {CertificateUnusable} */
function keyOf(x509: X509Certificate): KeyObject {
  try {
    return x509.publicKey;
  } catch {
    throw new CertificateUnusable('its key cannot be read');
  }
}

/**
 * The time that OpenSSL writes as `Jan  1 00:00:00 2026 GMT`; NaN if it is no time, not in GMT, or of a year before 1000:
 * `Date.parse` reads the year 49 as 2049.
 */
function timeOf(text: string): number {
  return / [1-9]\d{3} GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}

function isSameElement(left: DerElement | undefined, right: DerElement | undefined): boolean {
  return !!left && !!right && equalBytes(new Uint8Array(left.toBER()), new Uint8Array(right.toBER()));
}

/** Whether a certificate names its own subject as its issuer: by its own key, or by an earlier one (RFC 5280 section 3.2). */
export function isSelfIssued({ subject, issuer }: Certificate): boolean {
  return isSameName(subject, issuer);
}

/** Whether two are the same certificate. */
export function isSameCertificate(left: Certificate, right: Certificate): boolean {
  return equalBytes(left.x509.raw, right.x509.raw);
}
