import { equalBytes } from '../bytes.js';
import { type CborValue, decodeCbor, encodeCbor } from '../cose/cbor.js';
import { Claim, Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import { createSign1, decodeSign1, encodeSign1 } from '../cose/sign1.js';
import type { Signer, VerifySignature } from '../cose/signature.js';
import { verifySign1 } from '../cose/verify-sign1.js';
import { VerificationError } from '../errors.js';
import { logClaims, readLogClaims } from '../receipt/log-claims.js';
import { decodeNamedKey, encodeNamedKey, type NamedKey } from './manifest-key.js';

/** Header 3 of a certificate of a tenancy's key. */
const TENANCY_KEY_TYPE = 'application/vcon-archivist.tenancy-key+cbor';
const VERSION = 1;
const Member = { version: 1, role: 2, key: 3, from: 4 } as const;
const UNDERSTOOD = [Header.alg, Header.contentType, Header.kid, Header.claims];

/** A key of one tenancy. The root key does not certify it, because tenancies are created too often for that. */
export interface TenancyKey extends NamedKey {
  readonly tenantId: string;
  readonly role: string;
  /** Unix milliseconds. */
  readonly validFromMs: number;
}

const subjectOf = (tenantId: string) => `tenant/${tenantId}`;

function bad(reason: string): VerificationError {
  return new VerificationError('malformed', `not a certificate of a tenancy's key: ${reason}`);
}

function encodePayload(key: Omit<TenancyKey, 'tenantId'>): Uint8Array {
  return encodeCbor(
    new Map<number, CborValue>([
      [Member.version, VERSION],
      [Member.role, key.role],
      [Member.key, encodeNamedKey(key)],
      [Member.from, key.validFromMs],
    ]),
  );
}

/** Certifies a tenancy's key with the deployment's issuer key (docs/formats/key-manifest.md). */
export async function certifyTenancyKey(key: TenancyKey, issuer: string, signer: Signer): Promise<Uint8Array> {
  const header = new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.contentType, TENANCY_KEY_TYPE],
    [Header.kid, signer.kid],
    [Header.claims, logClaims({ issuer, subject: subjectOf(key.tenantId) })],
  ]);
  return encodeSign1(await createSign1(header, encodePayload(key), signer));
}

function decodePayload(payload: Uint8Array): Omit<TenancyKey, 'tenantId'> {
  const map = decodeCbor(payload);
  if (!(map instanceof Map) || map.get(Member.version) !== VERSION) throw bad('its payload is of no known version');
  const [role, validFromMs] = [map.get(Member.role), map.get(Member.from)];
  if (typeof role !== 'string' || typeof validFromMs !== 'number') throw bad('its role or its time is missing');
  const key = { role, validFromMs, ...decodeNamedKey(map.get(Member.key)) };
  if (!equalBytes(encodePayload(key), payload)) throw bad('its payload is not encoded canonically');
  return key;
}

/**
 * Checks a certificate with the issuer keys of a manifest, and resolves with the certified key.
 * @throws {VerificationError} `malformed`, `issuer_key_not_trusted`, `statement_signature_invalid`
 */
export async function verifyTenancyKey(
  certificate: Uint8Array,
  issuerKeys: readonly PublicJwk[],
  verifySignature?: VerifySignature,
): Promise<TenancyKey> {
  const sign1 = decodeSign1(certificate);
  const { subject } = readLogClaims(sign1.protectedHeader);
  if (sign1.protectedHeader.get(Header.contentType) !== TENANCY_KEY_TYPE) throw bad('it has another content type');
  if (sign1.payload === null || sign1.unprotectedHeader.size > 0) throw bad('it is not encoded canonically');
  const tenantId = /^tenant\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(subject ?? '')?.[1];
  if (tenantId === undefined || !sign1.protectedHeader.has(Header.claims))
    throw bad(`claim ${Claim.subject} names no tenancy`);
  await verifySign1(sign1, sign1.payload, {
    what: 'the certificate of a tenancy’s key',
    keys: issuerKeys,
    verifySignature,
    understood: UNDERSTOOD,
    untrusted: 'issuer_key_not_trusted',
    invalid: 'statement_signature_invalid',
  });
  return { tenantId, ...decodePayload(sign1.payload) };
}
