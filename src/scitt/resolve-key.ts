import { toBase64Url } from '../core/bytes.js';
import { EVIDENCE_ALGORITHMS, type SignatureAlgorithm } from '../core/cose/algorithms.js';
import type { CborValue } from '../core/cose/cbor.js';
import { Header } from '../core/cose/labels.js';
import { signatureInput } from '../core/cose/sign1.js';
import { certificateChain } from '../core/cose/x5chain.js';
import { VerificationError } from '../core/errors.js';
import { readCertificate } from '../platform/x509/certificate.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';
import { authorityOfIssuer } from './certificate-chain.js';
import { isDidX509 } from './did-x509.js';
import type { ExaminedStatement } from './examine-statement.js';
import {
  algorithmOfCoseKey,
  fits,
  type IssuerKey,
  issuerKey,
  issuerKeyOfCoseKey,
  KeyUnusable,
  verifies,
} from './issuer-key.js';
import { isReservedIssuer } from './reserved-issuer.js';
import { StatementRefused } from './statement-refused.js';
import {
  anchorCertificate,
  anchorHasKid,
  anchorKey,
  hasReadableCertificate,
  type TrustAnchor,
} from './trust-anchor.js';

/** Where the key of a statement may be found. */
export interface KeySources {
  /** Keys registered for the statement's issuer. */
  readonly issuerKeys: readonly TrustAnchor[];
  readonly authorities: readonly TrustAnchor[];
  readonly selfAsserted: boolean;
  /** Issuer names that only the service itself may use. */
  readonly reserved: readonly string[];
  readonly nowMs: number;
}

/** How the key was found, as recorded with the entry. */
export type KeyResolution =
  | { readonly method: 'registered_issuer'; readonly thumbprint: string; readonly trust_anchor: string }
  | { readonly method: 'x5chain'; readonly thumbprint: string; readonly trust_anchor: string }
  | { readonly method: 'self_asserted'; readonly thumbprint: string };

/**
 * Finds the key of a statement and verifies the signature with it.
 * - A certificate chain decides, if the statement has one.
 * - Otherwise a registered issuer must use one of its registered keys, so that others cannot self-assert its name.
 * - Otherwise the key in the statement is used, except for a did:x509, whose form promises certificates.
 * @throws {StatementRefused}
 */
export async function resolveKey(statement: ExaminedStatement, sources: KeySources): Promise<KeyResolution> {
  if (isReservedIssuer(statement.issuer, sources.reserved))
    throw rejected('This issuer name is reserved for the service itself.');
  const { key, resolution } = found(statement, sources);
  const { algorithm, payload } = statement;
  const { protectedBytes, signature } = statement.read.sign1;
  if (!fits(key, algorithm)) throw rejected(`The key of the statement does not fit its algorithm ${algorithm.name}.`);
  if (!(await verifies(key, algorithm, signatureInput(protectedBytes, payload), signature)))
    throw rejected('The signature of the statement does not verify.');
  return resolution;
}

/** True if the statement names its key by certificates: then only authorities decide. */
export function hasChain({ read: { sign1 } }: ExaminedStatement): boolean {
  return sign1.protectedHeader.has(Header.x5chain) || sign1.unprotectedHeader.has(Header.x5chain);
}

interface Found {
  readonly key: IssuerKey;
  readonly resolution: KeyResolution;
}

function found(statement: ExaminedStatement, sources: KeySources): Found {
  if (hasChain(statement)) return keyOfChain(statement, sources);
  if (sources.issuerKeys.length > 0) return keyOfIssuer(statement, sources.issuerKeys);
  if (isDidX509(statement.issuer))
    throw rejected(
      'The issuer (1) is a did:x509, which certificates prove: x5chain (33) must have those of the signer.',
    );
  if (statement.confirmationKey !== undefined) {
    if (sources.selfAsserted) return keyOfConfirmation(statement);
    throw rejected('The issuer is not registered, and this tenancy does not allow self-asserted issuers.');
  }
  if (statement.read.kid) {
    const own = sources.selfAsserted ? ', or the statement carries the key in its confirmation claim (8)' : '';
    throw rejected(`The issuer is not registered. An Owner adds its key as a trust anchor${own}.`);
  }
  throw new StatementRefused(
    'Confirmation Missing',
    'The statement names no key: it has neither a protected kid (4), which is a byte string, nor an x5chain (33) nor a confirmation claim (8) with a key.',
  );
}

function keyOfIssuer(statement: ExaminedStatement, anchors: readonly TrustAnchor[]): Found {
  const { kid } = statement.read;
  if (!kid) throw rejected('A registered issuer must name its key by a protected kid (4), which is a byte string.');
  const anchor = anchors.find((each) => anchorHasKid(each, kid));
  if (!anchor)
    throw rejected('No registered key of this issuer has this kid (4). An Owner can add the key as a trust anchor.');
  const key = anchorKey(anchor);
  const thumbprint = toBase64Url(key.thumbprint);
  return { key, resolution: { method: 'registered_issuer', thumbprint, trust_anchor: anchor.anchorId } };
}

function keyOfConfirmation({ confirmationKey, algorithm }: ExaminedStatement): Found {
  try {
    const key = issuerKeyOfCoseKey(confirmationKey);
    const restricted = algorithmOfCoseKey(confirmationKey);
    if (restricted !== undefined && !allows(restricted, algorithm))
      throw new KeyUnusable('it is for another algorithm');
    return { key, resolution: { method: 'self_asserted', thumbprint: toBase64Url(key.thumbprint) } };
  } catch (error) {
    if (error instanceof KeyUnusable) throw rejected(`The confirmation key cannot be used: ${error.message}.`);
    throw error;
  }
}

/** Whether a key for the one algorithm is for the other: a curve's has two numbers and two names (RFC 9864). */
function allows(restricted: CborValue, { number, curve }: SignatureAlgorithm): boolean {
  const named: SignatureAlgorithm | undefined = EVIDENCE_ALGORITHMS.find(
    (each) => each.number === restricted || each.name === restricted,
  );
  return named !== undefined && (named.number === number || (curve !== undefined && named.curve === curve));
}

function keyOfChain(statement: ExaminedStatement, sources: KeySources): Found {
  try {
    const chain = certificateChain(statement.read.sign1).map(readCertificate);
    const anchors = sources.authorities.filter(hasReadableCertificate);
    const place = authorityOfIssuer(chain, anchors.map(anchorCertificate), statement.issuer, sources.nowMs);
    const key = issuerKey(chain[0]!.x509.publicKey);
    const trustAnchor = anchors[place]!.anchorId;
    return {
      key,
      resolution: { method: 'x5chain', thumbprint: toBase64Url(key.thumbprint), trust_anchor: trustAnchor },
    };
  } catch (error) {
    if (error instanceof CertificateUnusable || error instanceof KeyUnusable)
      throw rejected(`x5chain (33): ${error.message}.`);
    if (error instanceof VerificationError) throw rejected(`${error.message}.`);
    throw error;
  }
}

function rejected(description: string): StatementRefused {
  return new StatementRefused('Rejected', description);
}
