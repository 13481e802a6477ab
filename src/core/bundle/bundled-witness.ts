import { fromHex } from '../bytes.js';
import type { PublicJwk } from '../cose/public-key.js';
import { VerificationError } from '../errors.js';
import { readSeal } from '../receipt/seal.js';
import type { EventDocument } from '../statement/event-document.js';
import type { NoteKey } from '../tlog/signed-note.js';
import { utf8Text } from '../utf8-text.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import type { ExpectedLog, LogTrust } from '../verify/trust.js';
import { type Findings, findingsOf, missing, notCovered } from '../verify/verdict.js';
import { verifyWitnessed, type WitnessedSeal } from '../verify/verify-witnessed.js';
import type { OperationFiles } from './operation-files.js';

/** The witnesses that the verifier knows, and how many of them must have cosigned. */
export interface GivenWitnesses extends LogTrust {
  readonly logKeys: readonly PublicJwk[];
  readonly tenancyLog?: ExpectedLog | undefined;
  readonly witnesses: readonly NoteKey[];
  readonly quorum: number;
  /** Origin of the checkpoints that they cosign. */
  readonly witnessedLog?: string | undefined;
}

const HASH = /^[0-9a-f]{64}$/;
/** A path, or the peaks, of the largest log that there can be. */
const MOST_HASHES = 64;

function hashes(value: unknown): Uint8Array[] {
  const good = Array.isArray(value) && value.length <= MOST_HASHES;
  if (!good || !value.every((each): each is string => typeof each === 'string' && HASH.test(each)))
    throw new VerificationError('malformed', 'event-in-seal.json does not contain the lists of hashes');
  return value.map(fromHex);
}

/** @throws {VerificationError} `malformed` */
function witnessedSeal(seal: Uint8Array, proof: Uint8Array, inclusion: Uint8Array): WitnessedSeal {
  const read = parseUnambiguousBytes(inclusion) as { path?: unknown; peaks?: unknown } | null;
  return { seal, proof: utf8Text(proof), path: hashes(read?.path), peaks: hashes(read?.peaks) };
}

/**
 * Checks that witnesses have seen the state of the log that holds an event. Without their keys everything except the
 * cosignatures is checked, and the result is unproven. It is also unproven if keys are given and the bundle has nothing
 * from witnesses.
 */
export function examineWitness(
  event: EventDocument,
  eventPath: string,
  files: OperationFiles,
  trust: GivenWitnesses,
): Promise<Partial<Findings>> | Partial<Findings> {
  const [seal, proof, inclusion] = (['witnessed-seal', 'witnessed-seal-proof', 'event-in-seal'] as const).map((kind) =>
    files.get(kind),
  );
  const asked = trust.witnesses.length > 0;
  if (!seal && !proof && !inclusion) return asked ? nothingWitnessed(eventPath) : {};
  if (!seal || !proof || !inclusion)
    return notCovered((seal ?? proof ?? inclusion)!.path, 'unproven', 'the other files of witness/ are missing');
  return findingsOf(proof.path, async () => {
    const { tenancyLog: log, witnessedLog: origin, witnesses } = trust;
    // Without keys no quorum can be reached, and the path to the checkpoint can still be wrong.
    const quorum = asked ? trust.quorum : 0;
    const given = witnessedSeal(seal.bytes, proof.bytes, inclusion.bytes);
    const { proofs } = await verifyWitnessed(event, given, { ...trust, log, origin, witnesses, quorum });
    if (!asked) return withoutKeys(proof.path);
    const facts = { size: String(readSeal(seal.bytes).state.size) };
    return { claims: [{ kind: 'witnessed', piece: seal.path, facts, by: proofs }] };
  });
}

/** Returns the finding that witnesses are required, but signed nothing about this piece. */
export function nothingWitnessed(piece: string): Partial<Findings> {
  const detail = 'witnesses were required, but the evidence contains nothing that they signed';
  return { ...missing('witnesses', detail), ...notCovered(piece, 'unproven', detail, ['witnesses']) };
}

function withoutKeys(path: string): Partial<Findings> {
  const detail =
    'witnesses have cosigned it, but none of their keys was given (--witness). Witnesses publish their keys';
  return { ...missing('witness_keys', detail), ...notCovered(path, 'unproven', detail) };
}
