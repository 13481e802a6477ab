import { inclusionProofPath } from '../../core/mmr/inclusion-proof-path.js';
import { mmrIndex, sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { peaks as peakIndices } from '../../core/mmr/peaks.js';
import { rfc9162InclusionNodes, rfc9162InclusionPath } from '../../core/rfc9162/rfc9162-inclusion-path.js';
import { encodeTlogProof } from '../../core/tlog/tlog-proof.js';
import type { WitnessedSeal } from '../../core/verify/verify-witnessed.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { LogRef } from '../log.js';
import { readNodes } from '../node-page-store.js';
import { findSeal } from '../seal-store.js';
import { firstWitnessedSeal } from './witness-store.js';

/**
 * Evidence that witnesses have seen a leaf of an MMR log: the first registered seal over it that a cosigned checkpoint
 * covers, and the first such checkpoint. Undefined until it exists; afterwards it only gains cosignatures.
 */
export async function witnessedSeal(
  tx: Tx,
  publicLog: LogRef,
  log: LogRef,
  leafIndex: bigint,
): Promise<WitnessedSeal | undefined> {
  const place = await firstWitnessedSeal(tx, publicLog, log, leafIndex);
  const seal = place && (await findSeal(tx, log, place.sealNumber));
  if (!seal) return undefined;
  const size = sizeOfLeaves(seal.leaves);
  const [way, tops] = [inclusionProofPath(size, mmrIndex(leafIndex)), peakIndices(size)];
  const nodeAt = await readNodes(tx, log, [...way, ...tops]);
  const entryNodes = rfc9162InclusionNodes(place.entryIndex, place.checkpointSize);
  const path = rfc9162InclusionPath(place.entryIndex, place.checkpointSize, await readNodes(tx, publicLog, entryNodes));
  return {
    seal: seal.signed,
    path: way.map(nodeAt),
    peaks: tops.map(nodeAt),
    proof: encodeTlogProof({ index: place.entryIndex, path, checkpoint: place.checkpoint }),
  };
}
