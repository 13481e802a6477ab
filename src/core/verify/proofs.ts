import { toHex } from '../bytes.js';
import { keyThumbprint } from '../cose/cose-key.js';
import { Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import { decodedSign1, type Sign1Message } from '../cose/sign1.js';
import { LAST_TIME_MS } from '../last-time.js';
import { idtimestampMs } from '../massif/idtimestamp.js';
import { leafIndex } from '../mmr/leaf-count.js';
import type { Mutable } from '../mutable.js';
import type { ReadLogClaims } from '../receipt/log-claims.js';
import type { MmrReceipt } from '../receipt/mmr-receipt.js';
import type { Rfc9162Receipt } from '../receipt/rfc9162-receipt.js';
import type { Seal } from '../receipt/seal.js';
import type { InclusionProof, KeyId, NamedLog, SealProof, SealTimes } from './claim.js';
import { covering, signedBy } from './covered-bytes.js';
import type { PlacedSeal } from './time-remarks.js';
import { type Findings, notCovered } from './verdict.js';

/** A seal whose signature was checked, with the key that made it. */
export interface VerifiedSeal extends Seal {
  readonly key: PublicJwk;
  /** The payload that it signs: the state with its peaks. */
  readonly signedState: Uint8Array;
}

/** Returns how a claim names a key. */
export function keyId(key: PublicJwk): KeyId {
  return { thumbprint: toHex(keyThumbprint(key)), ...(key.kid === undefined ? {} : { kid: key.kid }) };
}

/** Returns the log that claims name. */
export function namedLog({ issuer, subject }: ReadLogClaims): NamedLog {
  const log: Mutable<NamedLog> = {};
  if (issuer !== undefined) log.issuer = issuer;
  if (subject !== undefined) log.subject = subject;
  return log;
}

/**
 * Returns the proof that follows from a verified receipt of a statement log. Index and size are proven only if the log
 * signed the size, or the caller knows it: one path is valid in trees of several sizes, and at several indices.
 */
export function statementLogProof(
  receipt: Rfc9162Receipt,
  leaf: Uint8Array,
  key: PublicJwk,
  knownSize?: bigint,
): InclusionProof {
  const { sign1, leafIndex: index, treeSize } = receipt;
  const placed = sign1.protectedHeader.has(Header.treeSize) || knownSize === treeSize;
  return {
    type: 'inclusion',
    log: namedLog(receipt),
    vds: 1,
    signed: 'root',
    leaf: toHex(leaf),
    ...(placed ? { leaf_index: String(index), tree_size: String(treeSize) } : {}),
    key: keyId(key),
  };
}

/**
 * Returns the proof that follows from a verified receipt of a tenancy log. Every step of a path hashes a position, so a
 * path with at least one hash proves the index. An empty path proves only the leaf.
 */
export function tenancyLogProof(receipt: MmrReceipt, leaf: Uint8Array, key: PublicJwk): InclusionProof {
  const { index, path } = receipt;
  return {
    type: 'inclusion',
    log: namedLog(receipt),
    vds: 3,
    signed: 'peak',
    leaf: toHex(leaf),
    ...(path.length > 0 ? { leaf_index: String(leafIndex(index)), mmr_index: String(index) } : {}),
    key: keyId(key),
  };
}

/** Returns the proof that follows for a leaf under a verified seal: the node is at its index in the sealed state. */
export function sealedLeafProof(seal: VerifiedSeal, leaf: Uint8Array, mmrIndex: bigint): InclusionProof {
  const proof: InclusionProof = {
    type: 'inclusion',
    log: namedLog(seal),
    vds: 3,
    signed: 'seal',
    leaf: toHex(leaf),
    leaf_index: String(leafIndex(mmrIndex)),
    mmr_index: String(mmrIndex),
    ...sealTimes(seal),
    key: keyId(seal.key),
  };
  return covering(proof, { signed: signedBy(seal.sign1, seal.signedState) });
}

/** What a seal says about time. The caller has checked its signature. */
function sealTimes({ state: { size, sealedAtMs, idtimestamp, epoch } }: Seal): SealTimes {
  const newestMs = idtimestampMs(idtimestamp, epoch);
  return {
    tree_size: String(size),
    sealed_at: new Date(sealedAtMs).toISOString(),
    ...(newestMs <= LAST_TIME_MS ? { newest_leaf_at: new Date(newestMs).toISOString() } : {}),
  };
}

/** Returns the times of a verified seal that no claim names, with the piece that has it. */
export function placedSeal(piece: string, seal: VerifiedSeal): PlacedSeal {
  return { piece, seal: { log: namedLog(seal), ...sealTimes(seal) } };
}

/** Returns the proof that follows from a verified seal. */
export function sealProof(seal: VerifiedSeal): SealProof {
  const proof: SealProof = {
    type: 'seal',
    log: namedLog(seal),
    vds: 3,
    ...sealTimes(seal),
    key: keyId(seal.key),
  };
  return covering(proof, { signed: signedBy(seal.sign1, seal.signedState) });
}

/** Returns the finding that a proof does not show the place of its leaf. */
export function openPlace(piece: string, { vds, leaf_index }: InclusionProof): Partial<Findings> {
  if (leaf_index !== undefined) return {};
  return vds === 1
    ? notCovered(piece, 'by_design', 'the log did not sign the size of its tree, so that size and index are open', [
        'leaf_index',
        'tree_size',
      ])
    : notCovered(piece, 'by_design', 'a path without a hash does not prove the index', ['index']);
}

/**
 * Returns the finding that a seal has an unprotected header, such as the receipts of its peaks, which its signature
 * does not cover.
 */
export function openHeader(piece: string, { sign1 }: Seal): Partial<Findings> {
  const members = [...sign1.unprotectedHeader.keys()].map((label) => `header ${label}`);
  const detail = 'the signature of a seal does not cover its unprotected header';
  return members.length === 0 ? {} : notCovered(piece, 'by_design', detail, members);
}

/** Returns the finding that a receipt has unprotected headers other than its proof, which no signature covers. */
export function openReceiptHeaders(piece: string, receipt: Sign1Message): Partial<Findings> {
  const labels = [...decodedSign1(receipt).unprotectedHeader.keys()];
  const members = labels.filter((label) => label !== Header.verifiableDataProofs).map((label) => `header ${label}`);
  return members.length === 0 ? {} : notCovered(piece, 'by_design', 'no signature covers these', members);
}
