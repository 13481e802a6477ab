import { type CborLimits, type CborValue, decodeCbor, decodeCborSequence } from '../core/cose/cbor.js';
import { VerificationError } from '../core/errors.js';
import { StatementRefused } from './statement-refused.js';

/** Most statements of one bulk registration, and most bytes of its body. */
const MAX_BULK_STATEMENTS = 1_000;
export const MAX_BULK_BYTES = 8 * 1024 * 1024;

/** The statements of a bulk registration, each byte for byte as sent, and whether they came as a sequence. */
interface StatementBulk {
  readonly statements: readonly Uint8Array[];
  readonly sequence: boolean;
}

const FIRST_ARRAY = 0x80;
const FIRST_MAP = 0xa0;
const LIMITS: CborLimits = { maxBytes: MAX_BULK_BYTES, maxDepth: 1, maxItems: MAX_BULK_STATEMENTS + 1 };
const FORM = `send one CBOR array, or a CBOR sequence, of 1 to ${MAX_BULK_STATEMENTS} byte strings, each a COSE_Sign1`;

/**
 * Reads a CBOR array of byte strings, or a sequence of them (RFC 8742), each with one statement. The statements are not
 * looked into.
 * @throws {StatementRefused}
 */
export function readStatementBulk(body: Uint8Array): StatementBulk {
  const first = body[0] ?? 0;
  const sequence = first < FIRST_ARRAY || first >= FIRST_MAP;
  const items = decoded(body, sequence);
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_BULK_STATEMENTS)
    throw malformed(`it has ${Array.isArray(items) ? items.length : 'no'} statements`);
  const other = items.findIndex((item) => !(item instanceof Uint8Array));
  if (other >= 0) throw malformed(`item ${other} is not a byte string`);
  return { statements: items as Uint8Array[], sequence };
}

function decoded(body: Uint8Array, sequence: boolean): CborValue {
  try {
    return sequence ? decodeCborSequence(body, LIMITS) : decodeCbor(body, LIMITS);
  } catch (error) {
    if (error instanceof VerificationError) throw malformed(error.message);
    throw error;
  }
}

function malformed(reason: string): StatementRefused {
  return new StatementRefused('Malformed request', `The body cannot be read (${reason}): ${FORM}.`);
}
