import { Header } from '../cose/labels.js';
import { verifySign1 } from '../cose/verify-sign1.js';
import { VerificationError } from '../errors.js';
import { type ReadStatement, readStatement } from '../statement/signed-statement.js';
import type { IssuerTrust } from './trust.js';

const UNDERSTOOD = [
  Header.alg,
  Header.contentType,
  Header.kid,
  Header.draftClaims,
  Header.claims,
  Header.type,
  Header.payloadHashAlg,
  Header.preimageContentType,
  Header.payloadLocation,
  Header.privatePayloadHashAlg,
  Header.privatePayloadLocation,
  Header.privatePreimageContentType,
  Header.privateMetaMap,
] as const;

/**
 * Checks a signed statement's own signature with the issuer's keys. A key inside the statement is never used.
 * @throws {VerificationError} `issuer_key_not_trusted`, `statement_signature_invalid` and those of any signature
 */
export async function verifyStatement(statement: Uint8Array, trust: IssuerTrust): Promise<ReadStatement> {
  const read = readStatement(statement);
  if (!read.sign1.payload) throw new VerificationError('malformed', 'the statement has no payload');
  await verifySign1(read.sign1, read.sign1.payload, {
    what: 'the statement',
    keys: trust.issuerKeys,
    verifySignature: trust.verifySignature,
    understood: UNDERSTOOD,
    untrusted: 'issuer_key_not_trusted',
    invalid: 'statement_signature_invalid',
  });
  return read;
}
