import { concatBytes } from '../bytes.js';
import { Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { Sign1, Sign1Message } from '../cose/sign1.js';
import { verifySign1 } from '../cose/verify-sign1.js';
import { VerificationError } from '../errors.js';
import { hashPosPair64With } from '../mmr/hash-pos-pair64.js';
import { includedRoot } from '../mmr/included-root.js';
import { indexHeight } from '../mmr/index-height.js';
import { type MmrReceipt, readMmrReceipt } from '../receipt/mmr-receipt.js';
import { type Rfc9162Receipt, readRfc9162Receipt } from '../receipt/rfc9162-receipt.js';
import { rfc9162LeafWith } from '../rfc9162/rfc9162-leaf.js';
import { rfc9162ParentWith } from '../rfc9162/rfc9162-parent.js';
import { rfc9162RootFromInclusion } from '../rfc9162/rfc9162-root-from-inclusion.js';
import { type Sha256, sha256 } from '../sha256.js';
import type { EventDocument } from '../statement/event-document.js';
import { statementEntry } from '../statement/statement-entry.js';
import type { InclusionProof } from './claim.js';
import { covering, signedBy } from './covered-bytes.js';
import { provenEvent } from './event-facts.js';
import { openPlace, openReceiptHeaders, statementLogProof, tenancyLogProof } from './proofs.js';
import { mmrNodes, rfc9162Nodes } from './proven-nodes.js';
import { checkLogName, type ExpectedLog, type LogTrust } from './trust.js';
import { createVerdict, type Verdict } from './verdict.js';
import { checkEventLog, eventLeaf } from './verify-event.js';

/** Trust for a receipt, and which log it must come from. */
export interface ReceiptTrust extends LogTrust {
  readonly log?: ExpectedLog | undefined;
}

const UNDERSTOOD = [
  Header.alg,
  Header.kid,
  Header.draftClaims,
  Header.claims,
  Header.type,
  Header.verifiableDataStructure,
] as const;

/** Checks a receipt's signature over the root that its path leads to, and the name of its log. */
export async function verifyReceiptSignature(
  receipt: { readonly sign1: Sign1; readonly issuer?: string; readonly subject?: string },
  root: Uint8Array,
  trust: ReceiptTrust,
  what: string,
): Promise<PublicJwk> {
  const key = await verifySign1(receipt.sign1, root, {
    what,
    keys: trust.logKeys,
    verifySignature: trust.verifySignature,
    understood: UNDERSTOOD,
    untrusted: 'log_key_not_trusted',
    invalid: 'receipt_signature_invalid',
  });
  checkLogName(receipt, trust.log);
  return key;
}

/**
 * Returns the tree root that an entry leads to along a receipt's path. The receipt's signature must cover this root.
 * @throws {VerificationError} `inclusion_path_invalid` if the path does not fit index and size
 */
export function rfc9162ReceiptRoot(receipt: Rfc9162Receipt, entry: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  return rfc9162LeafRoot(receipt, rfc9162LeafWith(hash)(entry), hash);
}

function rfc9162LeafRoot({ leafIndex, treeSize, path }: Rfc9162Receipt, leaf: Uint8Array, hash: Sha256): Uint8Array {
  return rfc9162RootFromInclusion(leaf, leafIndex, treeSize, path, rfc9162ParentWith(hash));
}

/**
 * Returns the peak that a leaf leads to along a receipt's path.
 * @throws {VerificationError} `inclusion_path_invalid` if the receipt is for an interior node or another index
 */
export function mmrReceiptPeak(
  receipt: MmrReceipt,
  leaf: Uint8Array,
  mmrIndex?: bigint,
  hash: Sha256 = sha256,
): Uint8Array {
  if (indexHeight(receipt.index) !== 0)
    throw new VerificationError('inclusion_path_invalid', 'the receipt is for an interior node, not for a leaf');
  if (mmrIndex !== undefined && mmrIndex !== receipt.index)
    throw new VerificationError('inclusion_path_invalid', `the receipt is for index ${receipt.index}, not ${mmrIndex}`);
  return includedRoot(receipt.index, leaf, receipt.path, hashPosPair64With(hash));
}

/** A verified receipt, with what it proves. */
export type Proven<Receipt> = Receipt & { readonly proof: InclusionProof };

/**
 * Checks that an RFC 9162 log holds an entry (RFC 9942): recomputes the root from the entry's bytes and checks the
 * signature over it. Resolves with the receipt and its proof, which has the log, the key and, if proven, the place.
 * @throws {VerificationError}
 */
export async function verifyRfc9162Receipt(
  receipt: Sign1Message,
  entry: Uint8Array,
  trust: AnyReceiptTrust,
): Promise<Proven<Rfc9162Receipt>> {
  const { sha256: hash = sha256, treeSize } = trust;
  const read = readRfc9162Receipt(receipt);
  if (treeSize !== undefined && read.treeSize !== treeSize)
    throw new VerificationError(
      'inclusion_path_invalid',
      `the receipt is for ${read.treeSize} entries, not ${treeSize}`,
    );
  const leaf = rfc9162LeafWith(hash)(entry);
  const root = rfc9162LeafRoot(read, leaf, hash);
  const key = await verifyReceiptSignature(read, root, trust, 'the statement-log receipt');
  const made = statementLogProof(read, leaf, key, treeSize);
  const nodes = () => rfc9162Nodes(read.leafIndex, leaf, read.treeSize, read.path, rfc9162ParentWith(hash));
  const proof = covering(made, {
    tree: made.leaf_index === undefined ? undefined : { root, nodes },
    leaf: () => ({ bytes: rfc9162LeafWith(concatBytes)(entry), prefix: 1, form: 'cbor' }),
    signed: signedBy(read.sign1, root),
  });
  return { proof, ...read };
}

/**
 * Checks that an MMR log holds a leaf, at `mmrIndex` if it is given. A leaf that is itself a peak has an empty path,
 * which does not prove its place: then the proof names no index.
 * @throws {VerificationError}
 */
export async function verifyMmrReceipt(
  receipt: Sign1Message,
  leaf: Uint8Array,
  trust: ReceiptTrust & { readonly mmrIndex?: bigint },
): Promise<Proven<MmrReceipt>> {
  const read = readMmrReceipt(receipt);
  const peak = mmrReceiptPeak(read, leaf, trust.mmrIndex, trust.sha256);
  const key = await verifyReceiptSignature(read, peak, trust, 'the tenancy-log receipt');
  const { index, path } = read;
  const nodes = () => mmrNodes(index, leaf, path, hashPosPair64With(trust.sha256 ?? sha256));
  const proof = covering(tenancyLogProof(read, leaf, key), {
    signed: signedBy(read.sign1, peak),
    tree: path.length === 0 ? undefined : { root: peak, nodes },
  });
  return { proof, ...read };
}

/** What a receipt is for: a statement in a statement log, or a frozen event in a tenancy log. */
export type ReceiptSubject = { readonly statement: Uint8Array } | { readonly event: EventDocument };

/** Trust for a receipt of either kind; `treeSize` pins the size that a statement log's receipt must be for. */
export interface AnyReceiptTrust extends ReceiptTrust {
  readonly treeSize?: bigint | undefined;
}

/**
 * Checks that a receipt was issued for exactly this statement or event. The leaf is recomputed from it, and nothing in
 * the receipt is trusted. The log must be that of an event's own tenancy; for a statement, `trust.log` pins it.
 * Resolves with what is proven: an event's covered members, or that the log holds the statement (its signer is not
 * checked).
 * @throws {VerificationError} `inclusion_path_invalid`, `receipt_signature_invalid`, `log_key_not_trusted`,
 * `log_mismatch`, `unsupported` if the receipt's structure is not the one of such a log
 */
export async function verifyReceipt(
  receipt: Sign1Message,
  of: ReceiptSubject,
  trust: AnyReceiptTrust,
): Promise<Verdict> {
  const headers = openReceiptHeaders('receipt', receipt);
  if ('event' in of) {
    const { leaf, mmrIndex } = eventLeaf(of.event, trust.sha256);
    const proven = await verifyMmrReceipt(receipt, leaf, { ...trust, mmrIndex });
    checkEventLog(proven, of.event);
    return createVerdict(provenEvent(of.event, [proven.proof]), openPlace('receipt', proven.proof), headers);
  }
  const { proof } = await verifyRfc9162Receipt(receipt, statementEntry(of.statement), trust);
  const entry = { kind: 'entry', piece: 'statement', facts: {}, by: [proof] } as const;
  return createVerdict({ claims: [entry] }, openPlace('receipt', proof), headers);
}
