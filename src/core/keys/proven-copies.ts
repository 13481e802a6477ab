import { equalBytes } from '../bytes.js';
import { massifOfSize } from '../massif/massif-layout.js';
import { peaks } from '../mmr/peaks.js';
import type { Claim, Proof, SealProof } from '../verify/claim.js';
import { heldCopies } from '../verify/held-copy.js';
import { logOf } from '../verify/log-of.js';
import { createVerdict, notCovered, type Verdict } from '../verify/verdict.js';
import type { KeyManifest } from './key-manifest.js';
import { keyOf } from './revoked-proofs.js';

type Sealed = ReturnType<typeof heldCopies>[number];

/** Whether one copy has all nodes of another of the same log. */
async function hasNodesOf([seal, copy]: Sealed, [other, { height, size, edges }]: Sealed): Promise<boolean> {
  const number = massifOfSize(height, size);
  const isLonger = copy.height === height && copy.size >= size && copy.numbers.includes(number);
  if (!isLonger || logOf(seal.log) !== logOf(other.log)) return false;
  const massif = await copy.massif(number);
  return peaks(size).every((index) => equalBytes(massif.nodeAt(index), edges.get(String(index))!));
}

async function sealOver(own: Sealed, others: readonly Sealed[]): Promise<SealProof | undefined> {
  for (const other of others) if (await hasNodesOf(other, own)) return other[0];
  return undefined;
}

/**
 * Returns the verdict with copies of logs whose seals are by a stolen key proven by seals that count, if these are over a
 * copy of the same log with the same nodes: more evidence must not prove less. That one state extends the other is
 * then no claim, because the stolen key alone says when the log had the older one.
 */
export async function withProvenCopies(verdict: Verdict, manifest: KeyManifest): Promise<Verdict> {
  const isStolen = (proof: Proof) => {
    const key = keyOf(manifest, proof);
    return key?.role === 'seal' && key.state === 'revoked';
  };
  const good = verdict.claims.flatMap(({ by }) => by.flatMap(heldCopies)).filter(([seal]) => !isStolen(seal));
  const pieces = new Set<string>();
  const claims: Claim[] = [];
  for (const claim of verdict.claims) {
    const { kind, piece, by } = claim;
    const [own] = kind === 'log' && by.some(isStolen) ? by.flatMap(heldCopies) : [];
    const seal = own && (await sealOver(own, good));
    if (seal) pieces.add(piece);
    claims.push(seal ? { ...claim, by: [...by.filter((proof) => proof !== seal && !isStolen(proof)), seal] } : claim);
  }
  if (pieces.size === 0) return verdict;
  const kept = claims.filter(({ kind, piece }) => kind !== 'extension' || !pieces.has(piece));
  return createVerdict(
    { ...verdict, claims: kept },
    [...pieces].map((piece) => notCovered(piece, 'explanation', 'another seal proves what a stolen key sealed')),
  );
}
