import { toHex } from '../bytes.js';
import { HashAlgorithm } from '../cose/algorithms.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';
import type { EventDocument } from '../statement/event-document.js';
import type { ReadStatement } from '../statement/signed-statement.js';
import { JCS_DIGEST_ATTRIBUTE } from '../statement/vcon-template.js';
import { type ConserverForm, type ConserverHash, vconHashes } from '../vcon/vcon-hash.js';
import { eventAttributes } from './verify-event.js';

/** In which form a document has the digest that a statement speaks of. */
export type DocumentForm = 'raw' | ConserverForm | 'jcs';

const FORMS: Readonly<Record<DocumentForm, string>> = {
  raw: 'the file as it is',
  upstream: 'the file as the conserver writes what it read from its store',
  stored: 'the file as the conserver writes what a link has written back',
  submitted: 'the file as the conserver writes what was posted to its API',
  'submitted-stored': 'the file as the conserver writes what was posted to its API and written back by a link',
  jcs: 'the canonical form (JCS) of the file; its spelling differs from what was hashed',
};

/** A document found to be the one that a statement is about. */
export interface DocumentMatch {
  readonly form: DocumentForm;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/** One sentence on a match. */
export function describeMatch({ form, digest }: DocumentMatch): string {
  return `SHA-256 ${digest} of ${FORMS[form]}`;
}

/** The JCS digest that the statement itself, or a proven event, puts beside the payload. */
function jcsDigest(statement: ReadStatement, provenEvent: EventDocument | undefined): string | undefined {
  const digest =
    statement.meta.get(JCS_DIGEST_ATTRIBUTE) ?? (provenEvent && eventAttributes(provenEvent)[JCS_DIGEST_ATTRIBUTE]);
  return typeof digest === 'string' ? digest.toLowerCase() : undefined;
}

function mismatch(raw: string, expected: string, tried: readonly ConserverHash[]): VerificationError {
  const impossible = tried.flatMap(({ form, reason }) => (reason === undefined ? [] : [`${form}: ${reason}`]));
  const reasons =
    impossible.length === 0
      ? ''
      : ` (forms that prove nothing about this file: ${[...new Set(impossible)].join('; ')})`;
  return new VerificationError(
    'payload_hash_mismatch',
    `the file hashes to ${raw}, the statement is about ${expected}; no other form of the file matches either${reasons}`,
  );
}

/**
 * Finds the form in which a document is the one that a statement was made about. Somebody's own copy of a vCon rarely has
 * the bytes that the conserver hashed, so its forms are tried too; the JCS form counts only against a JCS digest that is
 * signed, or stands in an event that a log is proven to hold.
 * @throws {VerificationError} `payload_hash_mismatch`, `unsupported` for another hash than SHA-256, `malformed` when the
 * statement is no hash envelope
 */
export function matchDocument(
  statement: ReadStatement,
  document: Uint8Array,
  provenEvent?: EventDocument,
): DocumentMatch {
  if (!statement.payloadHash) throw new VerificationError('malformed', 'the statement carries no digest of a document');
  if (statement.payloadHashAlg !== HashAlgorithm.sha256)
    throw new VerificationError('unsupported', `hash algorithm ${statement.payloadHashAlg} is not SHA-256`);
  const expected = toHex(statement.payloadHash);
  const raw = toHex(sha256(document));
  if (raw === expected) return { form: 'raw', digest: raw };
  const hashes = vconHashes(document);
  const match = hashes.conserver.find(({ hash }) => hash === expected);
  if (match) return { form: match.form, digest: expected };
  const expectedJcs = jcsDigest(statement, provenEvent);
  if (expectedJcs !== undefined && hashes.jcs.hash === expectedJcs) return { form: 'jcs', digest: expectedJcs };
  throw mismatch(raw, expected, hashes.conserver);
}
