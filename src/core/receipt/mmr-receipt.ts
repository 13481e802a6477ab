import { type CborValue, decodeCbor, encodeCbor } from '../cose/cbor.js';
import { DataStructure, Header, ProofType } from '../cose/labels.js';
import { createSign1, encodeSign1, type Sign1, type Sign1Message } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';
import { type LogName, type ReadLogClaims, readLogClaims, sealerClaims } from './log-claims.js';
import {
  attachProof,
  malformedReceipt,
  onlyProof,
  proofInteger,
  proofPath,
  proofsOf,
  readReceiptEnvelope,
} from './receipt-proof.js';

/** How a proof is written: the map that stock clients read, or the current draft's byte string. */
export type MmrProofForm = 'map' | 'draft';

/** A read receipt of inclusion in a Merkle mountain range. */
export interface MmrReceipt extends ReadLogClaims {
  readonly sign1: Sign1;
  /** Node index, not leaf index. */
  readonly index: bigint;
  readonly path: readonly Uint8Array[];
  readonly form: MmrProofForm;
}

/** A read receipt that one Merkle mountain range extends another. */
export interface MmrConsistencyReceipt extends ReadLogClaims {
  readonly sign1: Sign1;
  /** Node counts. */
  readonly size1: bigint;
  readonly size2: bigint;
  /** One path for every peak of the older tree, left to right. */
  readonly paths: readonly (readonly Uint8Array[])[];
  /** Peaks of the newer tree that the older tree's do not lead to. */
  readonly rightPeaks: readonly Uint8Array[];
}

const MAP_INDEX = 1;
const MAP_PATH = 2;

/**
 * Signs a peak, once, when it first appears (log format of the MMR profile, data structure 3). The result is stored, is
 * part of every seal with this peak, and makes the receipt of each leaf below it. The claims are at labels 13 and 15,
 * because clients of two generations read one or the other.
 */
export async function peakReceipt(peak: Uint8Array, signer: Signer, name: LogName): Promise<Uint8Array> {
  const claims = sealerClaims(name, signer);
  const header = new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.kid, signer.kid],
    [Header.draftClaims, claims],
    [Header.claims, claims],
    [Header.verifiableDataStructure, DataStructure.mmrSha256],
  ]);
  return encodeSign1({ ...(await createSign1(header, peak, signer)), payload: null });
}

/** Returns the receipt of the node at `mmrIndex` under a signed peak. It adds only the proof, and needs no key. */
export function attachInclusion(
  signedPeak: Sign1Message,
  mmrIndex: bigint,
  path: readonly Uint8Array[],
  form: MmrProofForm,
): Uint8Array {
  const proof: CborValue =
    form === 'draft'
      ? encodeCbor([mmrIndex, [...path]])
      : new Map<number, CborValue>([
          [MAP_INDEX, mmrIndex],
          [MAP_PATH, [...path]],
        ]);
  return attachProof(signedPeak, ProofType.inclusion, proof);
}

function readInclusion(proof: CborValue): Pick<MmrReceipt, 'index' | 'path' | 'form'> {
  if (proof instanceof Map) {
    // The Go encoder writes an empty path as null.
    const path = proof.get(MAP_PATH);
    if (path === undefined || proof.size !== 2) throw malformedReceipt('its proof is not {1: index, 2: path}');
    return { index: proofInteger(proof.get(MAP_INDEX)), path: proofPath(path ?? []), form: 'map' };
  }
  const draft = proof instanceof Uint8Array ? decodeCbor(proof) : undefined;
  if (!Array.isArray(draft) || draft.length !== 2) throw malformedReceipt('its proof is not [index, path]');
  return { index: proofInteger(draft[0]), path: proofPath(draft[1]), form: 'draft' };
}

/** Reads a receipt in either form. Only its form is checked. @throws {VerificationError} `malformed`, `unsupported` */
export function readMmrReceipt(receipt: Sign1Message): MmrReceipt {
  const sign1 = readReceiptEnvelope(receipt, DataStructure.mmrSha256);
  return { sign1, ...readLogClaims(sign1.protectedHeader), ...readInclusion(onlyProof(sign1, ProofType.inclusion)) };
}

/** Returns the same receipt with its proof in the given form. @throws {VerificationError} `malformed`, `unsupported` */
export function mmrReceiptInForm(receipt: Uint8Array, form: MmrProofForm): Uint8Array {
  const { index, path } = readMmrReceipt(receipt);
  return attachInclusion(receipt, index, path, form);
}

/** Reads the consistency proof of a message without checking its signature. @throws {VerificationError} `malformed`, `unsupported` */
export function readMmrConsistencyProof(
  sign1: Sign1,
): Pick<MmrConsistencyReceipt, 'size1' | 'size2' | 'paths' | 'rightPeaks'> {
  // Sealers of the current draft write the one proof without the list around it that RFC 9942 has.
  const bare = proofsOf(sign1, ProofType.consistency);
  const encoded = bare instanceof Uint8Array ? bare : onlyProof(sign1, ProofType.consistency);
  const proof = encoded instanceof Uint8Array ? decodeCbor(encoded) : undefined;
  const [size1, size2, paths, rightPeaks] = Array.isArray(proof) && proof.length === 4 ? proof : [];
  if (!Array.isArray(paths) || paths.length > 64)
    throw malformedReceipt('its proof is not [size, size, paths, right peaks]');
  return {
    size1: proofInteger(size1),
    size2: proofInteger(size2),
    paths: paths.map(proofPath),
    rightPeaks: proofPath(rightPeaks),
  };
}

/** Reads a receipt of consistency. Only its form is checked. @throws {VerificationError} `malformed`, `unsupported` */
export function readMmrConsistencyReceipt(receipt: Uint8Array): MmrConsistencyReceipt {
  const sign1 = readReceiptEnvelope(receipt, DataStructure.mmrSha256);
  return { sign1, ...readLogClaims(sign1.protectedHeader), ...readMmrConsistencyProof(sign1) };
}
