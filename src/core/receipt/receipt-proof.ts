import type { CborMap, CborValue } from '../cose/cbor.js';
import { DataStructure, Header } from '../cose/labels.js';
import { decodedSign1, encodeSign1, type Sign1, type Sign1Message } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';

/** Returns the refusal of a receipt's form. */
export function malformedReceipt(reason: string): VerificationError {
  return new VerificationError('malformed', `not a receipt: ${reason}`);
}

/**
 * Returns a receipt around a proof: the stored signature, a detached payload, and the proof in the unprotected header
 * (RFC 9942).
 */
export function attachProof(signed: Sign1Message, proofType: number, proof: CborValue): Uint8Array {
  const { protectedBytes, signature } = decodedSign1(signed);
  const proofs: CborMap = new Map([[proofType, [proof]]]);
  const unprotectedHeader: CborMap = new Map([[Header.verifiableDataProofs, proofs]]);
  return encodeSign1({ protectedBytes, unprotectedHeader, payload: null, signature });
}

/**
 * Returns the verifiable data structure that a receipt's protected header names.
 * @throws {VerificationError} `malformed`
 */
export function receiptStructure(receipt: Sign1Message): number {
  const structure = decodedSign1(receipt).protectedHeader.get(Header.verifiableDataStructure);
  if (typeof structure !== 'number') throw malformedReceipt('it names no verifiable data structure');
  return structure;
}

/** Reads a receipt's envelope for one structure. @throws {VerificationError} `malformed`, `unsupported` */
export function readReceiptEnvelope(receipt: Sign1Message, structure: number): Sign1 {
  const sign1 = decodedSign1(receipt);
  const named = sign1.protectedHeader.get(Header.verifiableDataStructure);
  if (named !== structure)
    throw new VerificationError(
      Object.values<CborValue | undefined>(DataStructure).includes(named) ? 'malformed' : 'unsupported',
      `a receipt is for verifiable data structure ${String(named)}, not ${structure}`,
    );
  if (sign1.payload !== null) throw malformedReceipt('its payload is not detached');
  return sign1;
}

/** Returns the proofs of one type in a receipt. */
export function proofsOf(sign1: Sign1, proofType: number): CborValue | undefined {
  const proofs = sign1.unprotectedHeader.get(Header.verifiableDataProofs);
  return proofs instanceof Map ? proofs.get(proofType) : undefined;
}

/**
 * Returns the only proof of a type in a receipt.
 * @throws {VerificationError} `malformed`, `unsupported` for several proofs or those of another type
 */
export function onlyProof(sign1: Sign1, proofType: number): CborValue {
  const proofs = sign1.unprotectedHeader.get(Header.verifiableDataProofs);
  // A receipt of consistency, for example (RFC 9942 section 5.3).
  if (proofs instanceof Map && proofs.size > 0 && !proofs.has(proofType))
    throw new VerificationError('unsupported', 'a receipt has only other proofs');
  const list = proofsOf(sign1, proofType);
  if (!Array.isArray(list) || list.length === 0) throw malformedReceipt('it has no proof of the kind looked for');
  if (list.length > 1) throw new VerificationError('unsupported', 'a receipt has several proofs');
  return list[0]!;
}

/** Returns a tree position or size. @throws {VerificationError} `malformed` */
export function proofInteger(value: CborValue | undefined): bigint {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || value < 0)
    throw malformedReceipt('an index or size is not a positive integer');
  return BigInt(value);
}

/** Returns a list of 32-byte hashes, at most 64. @throws {VerificationError} `malformed` */
export function proofPath(value: CborValue | undefined): Uint8Array[] {
  if (!Array.isArray(value) || value.length > 64) throw malformedReceipt('a path is not a list of hashes');
  return value.map((hash) => {
    if (!(hash instanceof Uint8Array) || hash.length !== 32) throw malformedReceipt('a hash is not 32 bytes');
    return hash;
  });
}
