import { createHash, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { plainText } from '../../platform/plain-text.js';
import { readCertificate } from '../../platform/x509/certificate.js';
import { assertAuthority } from '../../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../../platform/x509/certificate-unusable.js';

/** A certification authority whose client certificates are identities of a tenancy. */
export interface TlsCaCertificate {
  readonly tenantId: string;
  readonly certificateId: string;
  readonly displayName: string;
  /** As it was sent. */
  readonly pem: string;
  readonly subjectHash: Uint8Array;
  readonly createdAt: Date;
}

const MAX_PEM = 16 * 1024;
const ONE_CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/;

const pem = plainText(MAX_PEM);
const displayName = plainText(128).min(1);

/**
 * Body of `POST /archivist/v1/tlscacertificates`; the interface has two names for the certificate, and one is enough.
 */
export const createTlsCaCertificateSchema = z.object({
  display_name: displayName,
  tlscacertificate: pem.nullish(),
  certificate: pem.nullish(),
});
export type CreateTlsCaCertificateBody = z.output<typeof createTlsCaCertificateSchema>;

/** Body of PATCH: what is missing or null stays unchanged. */
export const changeTlsCaCertificateSchema = createTlsCaCertificateSchema.extend({
  display_name: displayName.nullish(),
});
export type ChangeTlsCaCertificateBody = z.output<typeof changeTlsCaCertificateSchema>;

/** A certificate in a response, under both of its names. */
export const tlsCaCertificateSchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  tlscacertificate: z.string(),
  certificate: z.string(),
});

export function tlsCaCertificateIdentity(certificateId: string): string {
  return `tlscacertificates/${certificateId}`;
}

export function tlsCaCertificateResponse(certificate: TlsCaCertificate): Record<string, unknown> {
  return {
    identity: tlsCaCertificateIdentity(certificate.certificateId),
    display_name: certificate.displayName,
    tlscacertificate: certificate.pem,
    certificate: certificate.pem,
  };
}

/** The key by which issued certificates find their authority: SHA-256 of the name as Node writes it. */
export function nameHash(name: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(name).digest());
}

/**
 * The certificate of a PEM text; its line breaks may be written as backslash and n
 * (docs/design/interface.md#tls-ca-certificates).
 */
export function parsePem(text: string): X509Certificate | undefined {
  const lines = text.replaceAll('\\r', '').replaceAll('\\n', '\n');
  if (!ONE_CERTIFICATE.test(lines)) return undefined;
  try {
    return new X509Certificate(lines);
  } catch {
    return undefined;
  }
}

/**
 * The PEM text of a body with its certificate, or undefined if it has none.
 * @throws {ApiError} bad_request naming the field if it is not one currently valid certificate of an authority
 */
export function readCaCertificate(
  body: { readonly tlscacertificate?: string | null | undefined; readonly certificate?: string | null | undefined },
  nowMs: number,
): { readonly pem: string; readonly parsed: X509Certificate } | undefined {
  const { tlscacertificate, certificate } = body;
  const field = tlscacertificate == null ? 'certificate' : 'tlscacertificate';
  const text = tlscacertificate ?? certificate;
  if (text == null) return undefined;
  if (tlscacertificate != null && certificate != null && tlscacertificate !== certificate)
    throw new ApiError('bad_request', 'certificate: differs from tlscacertificate; send only one of the two');
  const parsed = parsePem(text);
  const wrong = parsed ? whyNoAuthority(parsed, nowMs) : 'must be one certificate in PEM';
  if (!parsed || wrong !== undefined) throw new ApiError('bad_request', `${field}: ${wrong}`);
  return { pem: text, parsed };
}

function whyNoAuthority(certificate: X509Certificate, nowMs: number): string | undefined {
  if (!certificate.ca) return 'must be of a certification authority (basicConstraints CA:TRUE)';
  if (!certificate.subject) return 'must have a subject';
  const unusable = whyUnusable(certificate);
  if (unusable !== undefined) return `cannot be used: ${unusable}`;
  if (nowMs < Date.parse(certificate.validFrom)) return 'is not valid yet';
  if (nowMs > Date.parse(certificate.validTo)) return 'has expired';
  return undefined;
}

/** The reason why every client of this authority would be refused. */
function whyUnusable({ raw }: X509Certificate): string | undefined {
  try {
    assertAuthority(readCertificate(raw));
    return undefined;
  } catch (error) {
    if (error instanceof CertificateUnusable) return error.message;
    throw error;
  }
}
