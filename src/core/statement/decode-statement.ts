import type { CborLimits } from '../cose/cbor.js';
import { decodeSign1, type Sign1, type Sign1Message } from '../cose/sign1.js';

/**
 * Returns a statement decoded. Anybody may have signed it, with any common encoder: RFC 9052 does not require
 * deterministic CBOR, and a NumericDate may be a float (RFC 8392 section 2). So its headers may have floats, and integers
 * and lengths that are longer than needed (docs/formats/cose.md). What a service signs itself is read with `decodeSign1`.
 * @throws {VerificationError} `malformed`
 */
export function decodeStatement(statement: Sign1Message, limits: Omit<CborLimits, 'tag' | 'ofOthers'> = {}): Sign1 {
  return statement instanceof Uint8Array ? decodeSign1(statement, { ...limits, ofOthers: true }) : statement;
}
