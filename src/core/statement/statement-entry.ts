import { encodeSign1, type Sign1Message } from '../cose/sign1.js';
import { decodeStatement } from './decode-statement.js';

/**
 * Returns the bytes that a statement log commits to: the tagged COSE_Sign1 with an empty unprotected header, and
 * everything that is signed byte for byte as submitted. Receipts and events that are attached later do not change it.
 * @throws {VerificationError} `malformed`
 */
export function statementEntry(statement: Sign1Message): Uint8Array {
  const { protectedBytes, payload, signature } = decodeStatement(statement);
  return encodeSign1({ protectedBytes, unprotectedHeader: new Map(), payload, signature });
}
