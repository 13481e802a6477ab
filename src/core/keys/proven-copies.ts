import { equalBytes } from '../bytes.js';
import { massifOfSize } from '../massif/massif-layout.js';
import { peaks } from '../mmr/peaks.js';
import type { Claim, Proof, SealProof } from '../verify/claim.js';
import { type HeldCopy, heldCopies } from '../verify/held-copy.js';
import { logOf } from '../verify/log-of.js';
import { createVerdict, notCovered, type Verdict } from '../verify/verdict.js';
import type { KeyManifest } from './key-manifest.js';
import { isByGoodKey, keyOf } from './revoked-proofs.js';

/** The copy of a log that reaches furthest in each massif. */
function longestBy(claims: readonly Claim[], counts: (seal: Proof) => boolean) {
  const longest = new Map<string, readonly [SealProof, HeldCopy]>();
  for (const [seal, copy] of claims.flatMap(({ by }) => by.flatMap(heldCopies)))
    if (counts(seal))
      for (const number of copy.numbers) {
        const at = placeOf(seal, copy, number);
        if (!((longest.get(at)?.[1].size ?? 0n) >= copy.size)) longest.set(at, [seal, copy]);
      }
  return longest;
}

const placeOf = ({ log }: SealProof, { height }: HeldCopy, number: number): string =>
  `${height} ${number} ${logOf(log)}`;

async function hasNodesOf(other: HeldCopy, { height, size, edges }: HeldCopy): Promise<boolean> {
  if (other.size < size) return false;
  const massif = await other.massif(massifOfSize(height, size));
  return peaks(size).every((index) => equalBytes(massif.nodeAt(index), edges.get(String(index))!));
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
  if (!verdict.claims.some(({ kind, by }) => kind === 'log' && by.some(isStolen))) return verdict;
  const longest = longestBy(verdict.claims, (seal) => isByGoodKey(manifest, seal));
  const proven = new Map<Claim, SealProof>();
  for (const claim of verdict.claims) {
    const [own] = claim.kind === 'log' && claim.by.some(isStolen) ? claim.by.flatMap(heldCopies) : [];
    if (!own) continue;
    const [seal, copy] = own;
    const other = longest.get(placeOf(seal, copy, massifOfSize(copy.height, copy.size)));
    if (other && (await hasNodesOf(other[1], copy))) proven.set(claim, other[0]);
  }
  const pieces = new Set([...proven.keys()].map(({ piece }) => piece));
  const claims = verdict.claims.flatMap((claim) => {
    const seal = proven.get(claim);
    if (seal) return { ...claim, by: [...new Set([...claim.by.filter((proof) => !isStolen(proof)), seal])] };
    return claim.kind === 'extension' && pieces.has(claim.piece) ? [] : claim;
  });
  const why = 'a seal of it is by a stolen key: another seal proves the nodes under it, and nothing proves its time';
  return createVerdict(
    { ...verdict, claims, remarks: verdict.remarks.filter(({ piece }) => !pieces.has(piece)) },
    [...pieces].map((piece) => notCovered(piece, 'explanation', why, ['seal'])),
  );
}
