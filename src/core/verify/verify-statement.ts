import { Header } from '../cose/labels.js';
import { keyAlgorithms, type PublicJwk } from '../cose/public-key.js';
import type { Sign1Message } from '../cose/sign1.js';
import { keyHasKid, verifySign1 } from '../cose/verify-sign1.js';
import { certificateChain, namesCertificate } from '../cose/x5chain.js';
import { type VerificationCode, VerificationError } from '../errors.js';
import { decodeStatement } from '../statement/decode-statement.js';
import {
  checkPayloadHash,
  type ReadStatement,
  readStatement,
  STATEMENT_HEADERS,
} from '../statement/signed-statement.js';
import { type IssuerTrust, pinText } from './trust.js';

/** What a log is proven to hold of a statement's registration. */
export interface ProvenRegistration {
  /** When it was accepted, in milliseconds: a chain of certificates has to hold then. */
  readonly atMs: number;
  /** What was submitted: its unprotected header, which no log of statements holds, may bring the certificates. */
  readonly submitted?: Uint8Array | undefined;
}

/** A statement whose signature was checked. Its protected members and its payload are from its issuer. */
export interface VerifiedStatement extends ReadStatement {
  readonly key: PublicJwk;
  /** Whether the caller named the issuer that it expects. */
  readonly issuerPinned: boolean;
  /** Unix milliseconds at which the signer's certificates were valid, where they brought the key. */
  readonly certificateValidAtMs?: number;
}

interface Candidates {
  readonly keys: readonly PublicJwk[];
  readonly certificateValidAtMs?: number;
  /** What it means when none of them signed, and how that is told unless as for any signature. */
  readonly invalid: VerificationCode;
  readonly unsigned?: string;
}

const UNSIGNED = 'statement_signature_invalid';
const UNTRUSTED = 'issuer_key_not_trusted';

/** The key of a statement that names its signer by certificates, of an authority that is trusted. */
function certified(
  { sign1, issuer }: ReadStatement,
  certificates: NonNullable<IssuerTrust['certificates']>,
  registration: ProvenRegistration | undefined,
): Candidates {
  const { protectedHeader, unprotectedHeader } = sign1;
  const brought = protectedHeader.has(Header.x5chain) || unprotectedHeader.has(Header.x5chain);
  const { submitted, atMs = certificates.atMs } = registration ?? {};
  const source = brought || !submitted ? unprotectedHeader : decodeStatement(submitted).unprotectedHeader;
  const chain = certificateChain({ protectedHeader, unprotectedHeader: source });
  const keys = [certificates.keyOfChain(chain, issuer ?? '', atMs)];
  return { keys, certificateValidAtMs: atMs, invalid: UNSIGNED };
}

/**
 * The keys to try. A kid chooses among those given. Where the statement names its key in another way or not at all, all of
 * them may be tried; keys that were given without a name, as PEM files are, under any kid. Which of these keys signed is
 * not known: a signature that fits none of them may be by a key that was not given.
 * @throws {VerificationError}
 */
function candidates(
  read: ReadStatement,
  { issuerKeys, certificates }: IssuerTrust,
  registration: ProvenRegistration | undefined,
): Candidates {
  const { sign1, kid } = read;
  const byCertificate = namesCertificate(sign1);
  if (certificates && byCertificate) return certified(read, certificates, registration);
  const named = kid ? issuerKeys.filter((key) => keyHasKid(key, kid)) : [];
  if (named.length > 0) return { keys: named, invalid: UNSIGNED };
  const possible = kid && !byCertificate ? issuerKeys.filter((key) => key.kid === undefined) : issuerKeys;
  const alg = sign1.protectedHeader.get(Header.alg);
  const keys = possible.filter((key) => keyAlgorithms(key).includes(alg as number));
  const unsigned = byCertificate
    ? "the statement names its signer by a certificate: its authority's certificate, or the signer's own key, has to be given"
    : 'the statement is not signed by any of the given keys, or it was changed';
  if (keys.length > 0) return { keys, invalid: UNTRUSTED, unsigned };
  throw new VerificationError(UNTRUSTED, unsigned);
}

/**
 * Checks a signed statement's own signature with the issuer's keys, or with the key of a certificate that a trusted
 * authority issued. A key inside the statement is never used by itself.
 * @throws {VerificationError} `issuer_key_not_trusted`, `certificate_invalid`, `statement_signature_invalid` and those of
 * any signature
 */
export async function verifyStatement(
  statement: Sign1Message,
  trust: IssuerTrust,
  registration?: ProvenRegistration,
): Promise<VerifiedStatement> {
  const read = readStatement(statement);
  const { sign1 } = read;
  if (!sign1.payload) throw new VerificationError('malformed', 'the statement has no payload');
  checkPayloadHash(sign1);
  const { keys, invalid, unsigned, ...found } = candidates(read, trust, registration);
  const { verifySignature } = trust;
  const check = {
    what: 'the statement',
    keys,
    verifySignature,
    understood: STATEMENT_HEADERS,
    untrusted: UNTRUSTED,
    invalid,
    unsigned,
  } as const;
  const key = await verifySign1(sign1, sign1.payload, check, keys);
  const { issuer: pin } = trust;
  if (pin !== undefined && (read.issuer === undefined || ![pin].flat().includes(read.issuer)))
    throw new VerificationError(UNTRUSTED, `the statement is issued by "${read.issuer}", not by ${pinText(pin)}`);
  return { key, issuerPinned: pin !== undefined, ...read, ...found };
}
