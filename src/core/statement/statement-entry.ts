import { decodeSign1, encodeSign1 } from '../cose/sign1.js';

/**
 * What a statement log commits to: the tagged COSE_Sign1 with an empty unprotected header, everything signed byte for
 * byte as submitted. Receipts and events that are attached later do not change it.
 * @throws {VerificationError} `malformed`
 */
export function statementEntry(statement: Uint8Array): Uint8Array {
  return encodeSign1({ ...decodeSign1(statement), unprotectedHeader: new Map() });
}
