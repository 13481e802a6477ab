import { equalBytes, utf8 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { hashPosPair64 } from '../mmr/hash-pos-pair64.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import { verifyInclusion } from '../mmr/verify-inclusion.js';
import { rfc9162Leaf } from '../rfc9162/rfc9162-leaf.js';
import { rfc9162RootFromInclusion } from '../rfc9162/rfc9162-root-from-inclusion.js';
import type { EventDocument } from '../statement/event-document.js';
import { decodeCheckpoint } from '../tlog/checkpoint.js';
import { verifiedCosigners } from '../tlog/cosignature.js';
import { decodeNote, type NoteKey } from '../tlog/signed-note.js';
import { decodeTlogProof } from '../tlog/tlog-proof.js';
import type { InclusionProof, WitnessProof } from './claim.js';
import { covering } from './covered-bytes.js';
import { sealedLeafProof, type VerifiedSeal } from './proofs.js';
import { mmrNodes, type ProvenNode, rfc9162Nodes } from './proven-nodes.js';
import { checkEventLog, eventLeaf } from './verify-event.js';
import type { ReceiptTrust } from './verify-receipt.js';
import { verifySeal } from './verify-seal.js';

/** The proof that witnesses have seen a state of the log that holds an event. */
export interface WitnessedSeal {
  /** A seal of the event's log, which is an entry of the public statement log, every byte of it. */
  readonly seal: Uint8Array;
  /** From the event's leaf to its peak, and all peaks of the sealed state, left to right. */
  readonly path: readonly Uint8Array[];
  readonly peaks: readonly Uint8Array[];
  /** That a cosigned checkpoint of the public statement log covers the seal (C2SP tlog-proof). */
  readonly proof: string;
}

/** Keys of the witnesses that the verifier knows, and how many of them must have cosigned. */
export interface WitnessTrust extends ReceiptTrust {
  readonly witnesses: readonly NoteKey[];
  readonly quorum: number;
  /** Origin of the public statement log's checkpoints, where it is known. */
  readonly origin?: string | undefined;
}

/** The witnesses that have cosigned, and the state that they have seen. */
export interface Witnessed {
  /** Names of the witnesses whose cosignatures hold. */
  readonly by: readonly string[];
  readonly origin: string;
  /** Entries under the checkpoint, and which of them the seal is. */
  readonly size: bigint;
  readonly index: bigint;
  /** That the event's leaf stands at its index in the sealed state, and that witnesses have seen that state. */
  readonly proofs: readonly [InclusionProof, WitnessProof];
}

/** The path of a leaf under a seal, and all peaks of the sealed state. */
function* sealedNodes(
  { state }: VerifiedSeal,
  { path, peaks }: WitnessedSeal,
  index: bigint,
  leaf: Uint8Array,
): Generator<ProvenNode> {
  yield* mmrNodes(index, leaf, path, hashPosPair64);
  for (const [place, at] of peakIndices(state.size).entries()) yield { at: String(at), hash: peaks[place]! };
}

/**
 * Checks that witnesses have seen a state of the log that holds an event: the event's leaf is under the seal's peaks, a
 * trusted key sealed them, the seal is an entry under the checkpoint, and enough of the given witnesses cosigned the
 * checkpoint. If so, the log's operator cannot show anybody another history of the event without a witness noticing.
 * @throws {VerificationError} `inclusion_path_invalid` if one does not lead to the next, `witness_quorum_missing` if
 * too few cosigned, `checkpoint_signature_invalid` for an invalid cosignature of a given witness, and those of any seal
 */
export async function verifyWitnessed(
  event: EventDocument,
  witnessed: WitnessedSeal,
  trust: WitnessTrust,
): Promise<Witnessed> {
  const { leaf, mmrIndex } = eventLeaf(event);
  const seal = await verifySeal(witnessed.seal, witnessed.peaks, trust);
  checkEventLog(seal, event);
  verifyInclusion(seal.state.size, witnessed.peaks, mmrIndex, leaf, witnessed.path);
  const { index, path, checkpoint } = decodeTlogProof(witnessed.proof);
  const note = decodeNote(checkpoint);
  const { origin, size, root } = decodeCheckpoint(note.text);
  if (trust.origin !== undefined && trust.origin !== origin)
    throw new VerificationError('log_mismatch', `the checkpoint is of the log "${origin}", not of "${trust.origin}"`);
  if (!equalBytes(rfc9162RootFromInclusion(rfc9162Leaf(witnessed.seal), index, size, path), root))
    throw new VerificationError('inclusion_path_invalid', 'the cosigned checkpoint does not cover the seal');
  const by = await verifiedCosigners(note, trust.witnesses, trust.verifySignature);
  if (by.length < trust.quorum)
    throw new VerificationError(
      'witness_quorum_missing',
      `the checkpoint is cosigned by ${by.length} of the given witnesses, not by ${trust.quorum}`,
    );
  const seen: WitnessProof = {
    type: 'witness',
    origin,
    tree_size: String(size),
    leaf_index: String(index),
    witnesses: by,
  };
  covering(seen, {
    signed: () => ({ bytes: utf8(note.text), prefix: 0, form: 'text' }),
    tree: { root, nodes: () => rfc9162Nodes(index, rfc9162Leaf(witnessed.seal), size, path) },
  });
  const sealed = covering(sealedLeafProof(seal, leaf, mmrIndex), {
    tree: { root: seal.signedState, nodes: () => sealedNodes(seal, witnessed, mmrIndex, leaf) },
  });
  return { by, origin, size, index, proofs: [sealed, seen] };
}
