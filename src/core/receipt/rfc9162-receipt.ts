import { type CborValue, decodeCbor, encodeCbor } from '../cose/cbor.js';
import { DataStructure, Header, ProofType } from '../cose/labels.js';
import { createSign1, encodeSign1, type Sign1, type Sign1Message } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import { type LogName, logClaims, type ReadLogClaims, readLogClaims } from './log-claims.js';
import {
  attachProof,
  malformedReceipt,
  onlyProof,
  proofInteger,
  proofPath,
  readReceiptEnvelope,
} from './receipt-proof.js';

/** A read receipt of inclusion in an RFC 9162 SHA-256 tree. */
export interface Rfc9162Receipt extends ReadLogClaims {
  readonly sign1: Sign1;
  readonly treeSize: bigint;
  readonly leafIndex: bigint;
  readonly path: readonly Uint8Array[];
}

/** A read receipt of consistency between two sizes of an RFC 9162 SHA-256 tree. */
export interface Rfc9162ConsistencyReceipt extends ReadLogClaims {
  readonly sign1: Sign1;
  readonly size1: bigint;
  readonly size2: bigint;
  readonly path: readonly Uint8Array[];
}

/**
 * Signs a tree root, once for each checkpoint (RFC 9942). The result is stored; receipts of every entry under this root
 * are made from it without the key. The tree size is signed too: one path leads to the same root as entry 4 of 7 and as
 * entry 4 of 8, and RFC 9942 does not say which is meant.
 */
export async function signRoot(root: Uint8Array, size: bigint, signer: Signer, name: LogName): Promise<Uint8Array> {
  const header = new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.kid, signer.kid],
    [Header.claims, logClaims(name)],
    [Header.verifiableDataStructure, DataStructure.rfc9162Sha256],
    [Header.treeSize, size],
  ]);
  return encodeSign1({ ...(await createSign1(header, root, signer)), payload: null });
}

/** Returns the receipt of inclusion of one entry under a signed root. */
export function attachRfc9162Inclusion(
  signed: Uint8Array | Sign1,
  treeSize: bigint,
  leafIndex: bigint,
  path: readonly Uint8Array[],
): Uint8Array {
  return attachProof(signed, ProofType.inclusion, encodeCbor([treeSize, leafIndex, [...path]]));
}

/** Returns the receipt that the tree under a signed root extends an older one. */
export function attachRfc9162Consistency(
  signed: Uint8Array | Sign1,
  size1: bigint,
  size2: bigint,
  path: readonly Uint8Array[],
): Uint8Array {
  return attachProof(signed, ProofType.consistency, encodeCbor([size1, size2, [...path]]));
}

/** Checks that the proof is for the tree size that the log signed. Some logs do not sign a size. */
function checkSize(sign1: Sign1, size: bigint): void {
  const signed = sign1.protectedHeader.get(Header.treeSize);
  if (signed !== undefined && proofInteger(signed) !== size)
    throw new VerificationError(
      'inclusion_path_invalid',
      `the log signed a tree of ${String(signed)} entries, not ${size}`,
    );
}

function readProof(receipt: Sign1Message, proofType: number) {
  const sign1 = readReceiptEnvelope(receipt, DataStructure.rfc9162Sha256);
  const encoded = onlyProof(sign1, proofType);
  const proof = encoded instanceof Uint8Array ? decodeCbor(encoded) : undefined;
  if (!Array.isArray(proof) || proof.length !== 3) throw malformedReceipt('its proof is not [integer, integer, path]');
  return {
    sign1,
    claims: readLogClaims(sign1.protectedHeader),
    first: proofInteger(proof[0]),
    second: proofInteger(proof[1]),
    path: proofPath(proof[2]),
  };
}

/**
 * Reads a receipt of inclusion. Only its form is checked, and that its proof is for the tree size that it signs.
 * @throws {VerificationError} `malformed`, `unsupported`, `inclusion_path_invalid`
 */
export function readRfc9162Receipt(receipt: Sign1Message): Rfc9162Receipt {
  const { sign1, claims, first, second, path } = readProof(receipt, ProofType.inclusion);
  checkSize(sign1, first);
  return { sign1, ...claims, treeSize: first, leafIndex: second, path };
}

/**
 * Reads a receipt of consistency. Only its form is checked, and that its proof is for the tree size that it signs.
 * @throws {VerificationError} `malformed`, `unsupported`, `inclusion_path_invalid`
 */
export function readRfc9162ConsistencyReceipt(receipt: Uint8Array): Rfc9162ConsistencyReceipt {
  const { sign1, claims, first, second, path } = readProof(receipt, ProofType.consistency);
  checkSize(sign1, second);
  return { sign1, ...claims, size1: first, size2: second, path };
}
