import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import type { Massif } from '../massif/read-massif.js';
import { isCompleteSize, leafCount } from '../mmr/leaf-count.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import { type ReadLogClaims, tenancyOfLog } from '../receipt/log-claims.js';
import { readSeal } from '../receipt/seal.js';
import type { VerifiedSeal } from './proofs.js';
import { type Findings, notCovered } from './verdict.js';
import { type RecomputedMassif, recomputeMassif } from './verify-massif.js';
import type { ReceiptTrust } from './verify-receipt.js';
import { verifySeal } from './verify-seal.js';

/** A massif file and the newest seal of it, as a log publishes them beside each other. */
export interface SealedMassif {
  readonly massif: Uint8Array;
  readonly seal: Uint8Array;
}

/** One massif of a proven log, and its seal. */
export interface ProvenMassif {
  readonly massif: RecomputedMassif;
  readonly seal: VerifiedSeal;
}

/**
 * Returns the peaks of the log at a size that ends in this massif, left to right.
 * @throws {VerificationError} `insufficient_data`
 */
export function peaksAt(massif: Massif, size: bigint): Uint8Array[] {
  if (size <= massif.firstNode || size > massif.size)
    throw new VerificationError(
      'insufficient_data',
      `massif ${massif.index} ends at ${massif.size} nodes, but the seal covers ${size}`,
    );
  if (!isCompleteSize(size))
    throw new VerificationError('insufficient_data', `no log has ${size} nodes: the seal covers half of a tree`);
  return peakIndices(size).map((index) => massif.nodeAt(index));
}

/**
 * Checks a seal against the massif that its state ends in.
 * @throws {VerificationError} `insufficient_data` when the file is shorter than what was sealed, and those of `verifySeal`
 */
export async function verifySealOfMassif(seal: Uint8Array, massif: Massif, trust: ReceiptTrust): Promise<VerifiedSeal> {
  const { size, idtimestamp, epoch } = readSeal(seal).state;
  const read = await verifySeal(seal, peaksAt(massif, size), trust);
  // Peaks do not cover idtimestamps; the seal signs the newest one.
  if (massif.epoch !== epoch)
    throw new VerificationError(
      'massif_corrupt',
      `massif ${massif.index} has epoch ${massif.epoch}, but its seal has ${epoch}`,
    );
  if (massif.entries[Number(leafCount(size) - massif.firstLeaf) - 1]?.idtimestamp !== idtimestamp)
    throw new VerificationError(
      'massif_corrupt',
      `massif ${massif.index} has another idtimestamp at its last sealed leaf than its seal`,
    );
  return read;
}

/** That a massif goes on where the one before it ended. @throws {VerificationError} `consistency_invalid` */
function checkFollows(massif: RecomputedMassif, before: RecomputedMassif): void {
  const follows =
    massif.index === before.index + 1 &&
    massif.height === before.height &&
    massif.firstNode === before.size &&
    massif.entries[0]!.idtimestamp > before.lastIdtimestamp &&
    massif.peakStack.length === before.peaks.length &&
    massif.peakStack.every((peak, place) => equalBytes(peak, before.peaks[place]!));
  if (!follows)
    throw new VerificationError(
      'consistency_invalid',
      `massif ${massif.index} does not continue where massif ${before.index} ended`,
    );
}

/**
 * Recomputes consecutive massif files, each from the one before it.
 * @throws {VerificationError} `massif_corrupt`, `consistency_invalid`
 */
export function recomputeMassifs(files: readonly Uint8Array[]): RecomputedMassif[] {
  const massifs: RecomputedMassif[] = [];
  for (const file of files) {
    const massif = recomputeMassif(file);
    const before = massifs.at(-1);
    if (before) checkFollows(massif, before);
    massifs.push(massif);
  }
  return massifs;
}

/**
 * Checks the files of an MMR log in order: every node is recomputed, each massif extends the one before it, each seal
 * is over its massif's peaks, and all seals are of one log. The files may begin at a later massif; then only the seals
 * prove what is before it.
 * @throws {VerificationError} `massif_corrupt`, `consistency_invalid`, `insufficient_data`, `seal_signature_invalid`,
 * `log_key_not_trusted`, `log_mismatch`
 */
export async function* proveLog(
  files: Iterable<SealedMassif> | AsyncIterable<SealedMassif>,
  trust: ReceiptTrust,
): AsyncGenerator<ProvenMassif> {
  let before: ProvenMassif | undefined;
  for await (const file of files) {
    const massif = recomputeMassif(file.massif);
    if (before) checkFollows(massif, before.massif);
    const seal = await verifySealOfMassif(file.seal, massif, trust);
    if (before) checkSameLog(seal, before.seal);
    before = { massif, seal };
    yield before;
  }
}

/**
 * Checks that two seals are of one log, because one key may seal several. Both subjects must name the same tenancy, or
 * none of them a tenancy; then the issuers must be equal. Subjects may differ otherwise, because some sealers name the
 * file there. The issuers of a tenancy's log may differ, because a service that moves to another address seals under
 * its new name from then on.
 * @throws {VerificationError} `log_mismatch`
 */
export function checkSameLog(seal: ReadLogClaims, other: ReadLogClaims): void {
  const tenancy = tenancyOfLog(seal);
  if (tenancy === tenancyOfLog(other) && (tenancy !== undefined || seal.issuer === other.issuer)) return;
  const [one, two] = [seal, other].map(({ issuer = '', subject = '' }) => `"${subject}" of "${issuer}"`);
  throw new VerificationError('log_mismatch', `the seals belong to two logs, ${one} and ${two}`);
}

/** Returns the finding that a log's last massif has nodes after its newest seal, which the log has not signed. */
export function unsealedNodes(piece: string, { massif, seal }: ProvenMassif): Partial<Findings> {
  const { size } = seal.state;
  return massif.size > size
    ? notCovered(piece, 'by_design', `no given seal covers the nodes from ${size} on`, ['nodes', 'trie_keys'])
    : {};
}
