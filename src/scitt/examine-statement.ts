import { EVIDENCE_ALGORITHMS, evidenceAlgorithm, type SignatureAlgorithm } from '../core/cose/algorithms.js';
import type { CborMap, CborValue } from '../core/cose/cbor.js';
import { Claim, CONFIRMATION_KEY, Header } from '../core/cose/labels.js';
import type { Sign1 } from '../core/cose/sign1.js';
import { VerificationError } from '../core/errors.js';
import { decodeStatement } from '../core/statement/decode-statement.js';
import {
  checkPayloadHash,
  type ReadStatement,
  readStatement,
  STATEMENT_HEADERS,
} from '../core/statement/signed-statement.js';
import { statementEntry } from '../core/statement/statement-entry.js';
import { nodeSha256 } from '../platform/node-sha256.js';
import { isPlainText } from '../platform/plain-text.js';
import { StatementRefused } from './statement-refused.js';

/** Limits of a statement's encoding. An entry bundle stores an entry's length in two bytes. */
export const STATEMENT_LIMITS = { maxBytes: 65_535, maxDepth: 16, maxItems: 4_096 } as const;
/** As a refusal names them. */
const ALGORITHMS = EVIDENCE_ALGORITHMS.map(({ name }) => name).join(', ');
/** UTF-16 units of an issuer or a subject. */
const MAX_CLAIM = 1_024;

/** A well-formed statement whose signature is not checked yet. */
export interface ExaminedStatement {
  /** Byte for byte as it was received. */
  readonly submitted: Uint8Array;
  /** What a statement log commits to, and its SHA-256: the statement without its unprotected headers. */
  readonly entry: Uint8Array;
  readonly hash: Uint8Array;
  readonly read: ReadStatement;
  readonly payload: Uint8Array;
  readonly algorithm: SignatureAlgorithm;
  readonly issuer: string;
  readonly subject: string;
  /** The key in its confirmation claim (RFC 8747); undefined without one. */
  readonly confirmationKey: CborValue | undefined;
}

/**
 * Reads a statement to register, with every check that needs only the statement: strict and bounded CBOR, an allowed
 * algorithm in the protected header, an embedded payload, issuer and subject.
 * @throws {StatementRefused}
 */
export function examineStatement(submitted: Uint8Array): ExaminedStatement {
  const { read, entry } = decoded(submitted);
  const { sign1, issuer, subject } = read;
  const algorithm = evidenceAlgorithm(sign1.protectedHeader.get(Header.alg));
  if (!algorithm || sign1.unprotectedHeader.has(Header.alg))
    throw new StatementRefused(
      'Bad Signature Algorithm',
      `The protected header must name the signature algorithm (1), one of ${ALGORITHMS}; the unprotected header must not.`,
    );
  checkCritical(sign1.protectedHeader, sign1.unprotectedHeader);
  const { payload } = sign1;
  if (payload === null || payload.length === 0)
    throw new StatementRefused('Payload Missing', 'The statement must carry its payload, and it must not be empty.');
  checkEnvelope(sign1);
  return {
    submitted,
    entry,
    hash: nodeSha256(entry),
    read,
    payload,
    algorithm,
    issuer: claim(issuer, 'issuer (1)'),
    subject: claim(subject, 'subject (2)'),
    confirmationKey: confirmationKey(sign1.protectedHeader),
  };
}

function decoded(submitted: Uint8Array): { read: ReadStatement; entry: Uint8Array } {
  try {
    const sign1 = decodeStatement(submitted, STATEMENT_LIMITS);
    return { read: readStatement(sign1), entry: statementEntry(sign1) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new StatementRefused('Malformed request', `The body is not a signed statement: ${error.message}.`);
  }
}

function checkCritical(protectedHeader: CborMap, unprotectedHeader: CborMap): void {
  if (unprotectedHeader.has(Header.crit))
    throw new StatementRefused('Rejected', 'crit (2) must be in the protected header.');
  if (!protectedHeader.has(Header.crit)) return;
  const critical = protectedHeader.get(Header.crit);
  const known =
    Array.isArray(critical) &&
    critical.length > 0 &&
    critical.every(
      (label) => typeof label === 'number' && STATEMENT_HEADERS.includes(label) && protectedHeader.has(label),
    );
  if (!known)
    throw new StatementRefused(
      'Rejected',
      'crit (2) must list only headers that the service supports and that the protected header has.',
    );
}

function checkEnvelope(sign1: Sign1): void {
  try {
    checkPayloadHash(sign1);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new StatementRefused('Rejected', `The statement contradicts itself: ${error.message}.`);
  }
}

function claim(value: string | undefined, name: string): string {
  if (value === undefined || value === '')
    throw new StatementRefused('Rejected', `The CWT claims (header 15 or 13) must have the ${name} as text.`);
  if (value.length > MAX_CLAIM || !isPlainText(value))
    throw new StatementRefused('Rejected', `The ${name} must have at most ${MAX_CLAIM} characters and no U+0000.`);
  return value;
}

function confirmationKey(header: CborMap): CborValue | undefined {
  const claims = header.get(Header.claims) ?? header.get(Header.draftClaims);
  const confirmation = claims instanceof Map ? claims.get(Claim.confirmation) : undefined;
  return confirmation instanceof Map ? confirmation.get(CONFIRMATION_KEY) : undefined;
}
