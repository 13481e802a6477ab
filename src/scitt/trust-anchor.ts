import { z } from 'zod';
import { equalBytes, toBase64Url, utf8 } from '../core/bytes.js';
import { ApiError } from '../platform/errors.js';
import { plainText } from '../platform/plain-text.js';
import { timestampOf, timestampSchema } from '../platform/timestamps.js';
import { type Certificate, readCertificate } from '../platform/x509/certificate.js';
import { assertAuthority } from '../platform/x509/certificate-path.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';
import { type IssuerKey, issuerKeyOfJwk, KeyUnusable } from './issuer-key.js';

/** What a tenancy trusts to sign statements: the key of a registered issuer, or a certificate authority. */
export interface TrustAnchor {
  readonly tenantId: string;
  readonly anchorId: string;
  readonly kind: 'issuer_key' | 'certificate_authority';
  readonly displayName: string;
  /** Claim 1 of the statements that the key may sign; empty for an authority. */
  readonly issuer: string;
  /** The kid that statements name the key by; empty if only its thumbprint does. */
  readonly kid: Uint8Array;
  readonly thumbprint: Uint8Array;
  /** The public key as a JWK, or the certificate as PEM. */
  readonly material: string;
  readonly createdAt: Date;
}

const MAX_MATERIAL = 16_384;

/** Body of `POST /archivist/v1/scitt/trust_anchors`: `issuer` with `public_key`, or only `certificate`. */
export const createTrustAnchorSchema = z.object({
  display_name: plainText(256).nullish(),
  issuer: plainText(1024).min(1).nullish(),
  kid: plainText(256).min(1).nullish(),
  public_key: z.record(z.string(), z.unknown()).nullish(),
  certificate: plainText(MAX_MATERIAL).nullish(),
});
export type CreateTrustAnchorBody = z.infer<typeof createTrustAnchorSchema>;

/** A trust anchor in a response. */
export const trustAnchorSchema = z.strictObject({
  identity: z.string(),
  kind: z.enum(['issuer_key', 'certificate_authority']),
  display_name: z.string(),
  issuer: z.string(),
  kid: z.string(),
  thumbprint: z.string(),
  public_key: z.record(z.string(), z.string()).nullable(),
  certificate: z.string(),
  timestamp_created: timestampSchema,
});

type Readable = Pick<TrustAnchor, 'kind' | 'displayName' | 'issuer' | 'kid' | 'thumbprint' | 'material'>;

/** The trust anchor that a body describes. @throws {ApiError} bad_request naming the field */
export function readTrustAnchor(body: CreateTrustAnchorBody): Readable {
  const { public_key: publicKey, certificate, issuer } = body;
  if (!publicKey === !certificate)
    throw new ApiError('bad_request', 'public_key: send either a public_key with its issuer, or a certificate');
  if (publicKey) {
    if (!issuer)
      throw new ApiError(
        'bad_request',
        'issuer: is required with public_key: the issuer whose statements the key may sign',
      );
    const { jwk, thumbprint } = readKey(publicKey);
    const kid = body.kid ?? (typeof publicKey['kid'] === 'string' ? publicKey['kid'] : undefined);
    const displayName = body.display_name ?? issuer;
    const material = JSON.stringify(jwk);
    return { kind: 'issuer_key', displayName, issuer, kid: kid ? utf8(kid) : new Uint8Array(), thumbprint, material };
  }
  if (issuer || body.kid)
    throw new ApiError(
      'bad_request',
      'issuer: must be left out with a certificate: the certificates of an authority name their issuers',
    );
  const authority = readAuthority(certificate!);
  return {
    kind: 'certificate_authority',
    displayName: body.display_name ?? authority.subject.commonNames[0] ?? 'certificate authority',
    issuer: '',
    kid: new Uint8Array(),
    thumbprint: new Uint8Array(Buffer.from(authority.x509.fingerprint256.replaceAll(':', ''), 'hex')),
    material: authority.x509.toString(),
  };
}

function readKey(jwk: Readonly<Record<string, unknown>>): IssuerKey {
  try {
    return issuerKeyOfJwk(jwk);
  } catch (error) {
    if (error instanceof KeyUnusable) throw new ApiError('bad_request', `public_key: ${error.message}`);
    throw error;
  }
}

/** @throws {ApiError} bad_request naming the field */
function readAuthority(pem: string): Certificate {
  try {
    const certificate = readCertificate(pem.replaceAll('\\n', '\n'));
    assertAuthority(certificate);
    return certificate;
  } catch (error) {
    if (error instanceof CertificateUnusable) throw new ApiError('bad_request', `certificate: ${error.message}`);
    throw error;
  }
}

/** What anchors hold, parsed once for each anchor that is in memory. */
const keys = new WeakMap<TrustAnchor, IssuerKey>();
const certificates = new WeakMap<TrustAnchor, Certificate>();

/** The key of a registered issuer. */
export function anchorKey(anchor: TrustAnchor): IssuerKey {
  const key = keys.get(anchor) ?? issuerKeyOfJwk(JSON.parse(anchor.material) as Record<string, unknown>);
  keys.set(anchor, key);
  return key;
}

/** The certificate of a registered authority. */
export function anchorCertificate(anchor: TrustAnchor): Certificate {
  const certificate = certificates.get(anchor) ?? readCertificate(anchor.material);
  certificates.set(anchor, certificate);
  return certificate;
}

/**
 * False for the certificate of an authority that was registered while certificates were read less strictly. It must not end
 * the trust in the others.
 */
export function hasReadableCertificate(anchor: TrustAnchor): boolean {
  try {
    anchorCertificate(anchor);
    return true;
  } catch (error) {
    if (error instanceof CertificateUnusable) return false;
    throw error;
  }
}

/** True if a statement's kid names this key: its registered kid, or its thumbprint. */
export function anchorHasKid(anchor: TrustAnchor, kid: Uint8Array): boolean {
  return equalBytes(anchor.thumbprint, kid) || (anchor.kid.length > 0 && equalBytes(anchor.kid, kid));
}

export function trustAnchorResponse(anchor: TrustAnchor): z.infer<typeof trustAnchorSchema> {
  const isKey = anchor.kind === 'issuer_key';
  return {
    identity: `trust_anchors/${anchor.anchorId}`,
    kind: anchor.kind,
    display_name: anchor.displayName,
    issuer: anchor.issuer,
    kid: Buffer.from(anchor.kid).toString('utf8'),
    thumbprint: toBase64Url(anchor.thumbprint),
    public_key: isKey ? (JSON.parse(anchor.material) as Record<string, string>) : null,
    certificate: isKey ? '' : anchor.material,
    timestamp_created: timestampOf(anchor.createdAt.getTime()),
  };
}
