import { VerificationError } from '../errors.js';
import { tenancyOfLog } from '../receipt/log-claims.js';
import { type MmrState, readSeal } from '../receipt/seal.js';
import type { Claim, SealProof } from '../verify/claim.js';
import { addEdges, copyOf, type Edges, type HeldCopy, holding } from '../verify/held-copy.js';
import { logOf } from '../verify/log-of.js';
import { type ForkPlaces, noteFork, otherLeaf } from '../verify/other-leaf.js';
import { openHeader, placedSeal, sealedLeafProof, sealProof, type VerifiedSeal } from '../verify/proofs.js';
import { type PlacedSeal, sealRemarks } from '../verify/time-remarks.js';
import { checked, createVerdict, type Findings, findingsOf, notCovered } from '../verify/verdict.js';
import { checkNotOlder } from '../verify/verify-consistency.js';
import { checkEventLog, eventCommit, eventLeaf } from '../verify/verify-event.js';
import { checkEventInMassif } from '../verify/verify-event-in-log.js';
import {
  type ProvenMassif,
  proveLog,
  recomputeMassifs,
  type SealedMassif,
  unsealedNodes,
  verifySealOfMassif,
} from '../verify/verify-log.js';
import { recomputeMassif } from '../verify/verify-massif.js';
import type { ReceiptTrust } from '../verify/verify-receipt.js';
import type { EvidenceFile } from './evidence-file.js';
import type { GivenEvent } from './given-event.js';
import type { ReplicaLog } from './replica-logs.js';
import { UsageError } from './usage-error.js';

/** Called after each step of a long check. */
export type Progress = (done: string) => void;

/** Parts of a log's files that no peak covers. The seal signs only the newest idtimestamp. */
const TRIE = 'the peaks do not cover the data that the massif stores beside each leaf';
const openTrie = (piece: string) =>
  notCovered(piece, 'by_design', TRIE, ['trie_keys', 'trie_extra_bytes', 'trie_idtimestamps']);

async function* filesOf({ numbers, read }: ReplicaLog): AsyncGenerator<SealedMassif> {
  for (const number of numbers) yield await read(number);
}

/** Checks every file of a replicated log, and finds in it the events that were given. */
export async function checkReplica(
  log: ReplicaLog,
  events: readonly GivenEvent[],
  trust: ReceiptTrust,
  progress: Progress,
): Promise<Partial<Findings>> {
  return findingsOf(log.path, async () => {
    let last: ProvenMassif | undefined;
    const edges: Edges = new Map();
    const seals: PlacedSeal[] = [];
    const forks: ForkPlaces = new Map();
    const names = new Map<string | undefined, VerifiedSeal>();
    for await (const proven of proveLog(filesOf(log), trust)) {
      checkPlace(log, proven, last);
      if (last) addEdges(edges, last.massif);
      last = proven;
      addEdges(edges, proven.massif, proven.seal.state.size);
      names.set(logOf(proven.seal), proven.seal);
      seals.push(placedSeal(log.path, proven.seal));
      progress(`massif ${proven.massif.index}, ${proven.massif.size} nodes`);
      noteFork(forks, proven);
      for (const event of events) await findEvent(event, proven, forks);
    }
    const { massif, seal } = last!;
    const proof = holding(sealProof(seal), replicaCopy(log, last!, edges), names.values());
    return createVerdict(
      logFindings(log.path, log.numbers[0]!, massif.index, [{ seal, proof }]),
      unsealedNodes(log.path, last!),
      { remarks: sealRemarks(seals) },
    );
  });
}

/** Massifs are read again: a log can be larger than memory. */
function replicaCopy({ numbers, read }: ReplicaLog, { massif, seal }: ProvenMassif, edges: Edges): HeldCopy {
  return {
    size: seal.state.size,
    height: massif.height,
    numbers,
    edges,
    massif: async (number) => recomputeMassif((await read(number)).massif),
  };
}

/** Checks that a file belongs to the log and massif number that its path names: a swapped file could pass the other checks. */
function checkPlace({ path, numbers }: ReplicaLog, { massif, seal }: ProvenMassif, before?: ProvenMassif): void {
  const expected = before ? before.massif.index + 1 : numbers[0];
  if (massif.index !== expected)
    throw new VerificationError('massif_corrupt', `the file of massif ${expected} holds massif ${massif.index}`);
  const [, tenancy] = /(?:^|[\\/])tenant[\\/]([0-9a-f-]{36})[\\/]\d+(?:[\\/]|$)/i.exec(path) ?? [];
  if (tenancy !== undefined && tenancyOfLog(seal) !== tenancy.toLowerCase())
    throw new VerificationError('log_mismatch', `the log in ${path} is "${seal.subject}"`);
}

/**
 * Adds the proof from a massif of the event's own log, if the massif holds the event's index. Whether another leaf there
 * refuses the event is decided when all proofs are known.
 */
async function findEvent(
  { event, piece, proofs, refusals, otherLeaves }: GivenEvent,
  proven: ProvenMassif,
  forks: ForkPlaces,
): Promise<void> {
  const { massif, seal } = proven;
  const index = BigInt(eventCommit(event).index);
  if (index < massif.firstNode || index >= massif.size || index >= seal.state.size) return;
  const { failed: elsewhere } = await checked(piece, () => checkEventLog(seal, event));
  if (elsewhere) return;
  const { proven: proof, failed } = await checked(piece, () => {
    checkEventInMassif(event, massif, seal);
    return sealedLeafProof(seal, eventLeaf(event).leaf, index);
  });
  if (proof) return void proofs.push(proof);
  const { proven: other } = await checked(piece, () => otherLeaf(event, proven, failed, forks));
  if (other) otherLeaves.push(other);
  else refusals.push(failed);
}

/** Returns the claim about a log's files and, for several seals, the claim that newer states extend older ones. */
function logFindings(
  piece: string,
  first: number,
  last: number,
  sealed: readonly { readonly seal: VerifiedSeal; readonly proof: SealProof }[],
): Partial<Findings> {
  const seals = sealed.map(({ seal }) => seal);
  const by = sealed.map(({ proof }) => proof);
  const [older, newer] = [seals[0]!, seals.at(-1)!];
  const massifs = { first_massif: String(first), last_massif: String(last) };
  const size = String(newer.state.size);
  const log: Claim = { kind: 'log', piece, facts: { ...massifs, size }, by };
  const extension: Claim = {
    kind: 'extension',
    piece,
    facts: { older_size: String(older.state.size), size },
    by,
  };
  const claims = seals.length > 1 ? [log, extension] : [log];
  return createVerdict({ claims }, openTrie(piece), ...seals.map((seal) => openHeader(piece, seal)));
}

/**
 * Checks single massif and seal files of one log, in any order: the massifs follow each other, each
 * seal is over the peaks of its size, and no seal over more nodes was made before one over fewer.
 * @throws {UsageError} if the same massif is given twice
 */
export async function checkLogFiles(
  massifFiles: readonly EvidenceFile[],
  sealFiles: readonly EvidenceFile[],
  events: readonly GivenEvent[],
  trust: ReceiptTrust,
): Promise<Partial<Findings>> {
  const piece = [...massifFiles, ...sealFiles].map(({ path }) => path).join(', ');
  if (massifFiles.length === 0 || sealFiles.length === 0)
    return notCovered(piece, 'unproven', 'a massif needs its seal, and a seal needs its massif: give both');
  const ordered = massifFiles.toSorted((left, right) => massifIndex(left) - massifIndex(right));
  if (new Set(ordered.map(massifIndex)).size !== ordered.length)
    throw new UsageError('two massif files have the same number: give the files of one log, copied at one time');
  return findingsOf(piece, async () => {
    const massifs = recomputeMassifs(ordered.map(({ bytes }) => bytes));
    const seals: VerifiedSeal[] = [];
    for (const { bytes } of sealFiles.toSorted(byState)) {
      const { size } = readSeal(bytes).state;
      const over = massifs.find((massif) => size <= massif.size) ?? massifs.at(-1)!;
      const seal = await verifySealOfMassif(bytes, over, trust);
      const before = seals.at(-1);
      if (before) checkNotOlder(seal, before);
      seals.push(seal);
    }
    const newest = seals.at(-1)!;
    const sealed = massifs.filter((massif) => massif.firstNode < newest.state.size);
    const forks: ForkPlaces = new Map();
    // After an open fork an older seal is of the generation before.
    const names = new Map(seals.map((seal) => [logOf(seal), seal]));
    for (const massif of sealed)
      for (const seal of names.values()) {
        noteFork(forks, { massif, seal });
        for (const event of events) await findEvent(event, { massif, seal }, forks);
      }
    const open = sealed.length < massifs.length ? notCovered(piece, 'unproven', 'no seal reaches the last massif') : {};
    const last = sealed.at(-1)!;
    const unsealed = unsealedNodes(piece, { massif: last, seal: newest });
    const proofs = seals.map((seal) => ({ seal, proof: sealProof(seal) }));
    holding(proofs.at(-1)!.proof, copyOf(sealed, seals), seals);
    return createVerdict(logFindings(piece, sealed[0]!.index, last.index, proofs), open, unsealed);
  });
}

/** A log may seal the same nodes again later, such as with a new key. */
function byState(left: EvidenceFile, right: EvidenceFile): number {
  const [one, other] = [sealedState(left), sealedState(right)];
  return Number(one.size - other.size) || one.sealedAtMs - other.sealedAtMs;
}

function sealedState({ bytes }: EvidenceFile): Pick<MmrState, 'size' | 'sealedAtMs'> {
  try {
    return readSeal(bytes).state;
  } catch {
    // The check that reads this seal refuses it with the reason.
    return { size: 0n, sealedAtMs: 0 };
  }
}

function massifIndex({ bytes }: EvidenceFile): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(28);
}
