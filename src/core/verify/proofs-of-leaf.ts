import { appendTo } from '../append-to.js';
import type { Claim, InclusionProof } from './claim.js';

interface OfLeaf {
  readonly claim: Claim;
  readonly proof: InclusionProof;
}

const looked = new WeakMap<readonly Claim[], Map<string, OfLeaf[]>>();

/**
 * Returns the proofs of a leaf among claims, in their order. The claims are read only once, whatever the number of
 * leaves.
 */
export function proofsOfLeaf(claims: readonly Claim[], leaf: string): readonly OfLeaf[] {
  let byLeaf = looked.get(claims);
  if (!byLeaf) {
    byLeaf = new Map();
    looked.set(claims, byLeaf);
    for (const claim of claims)
      for (const proof of claim.by) if (proof.type === 'inclusion') appendTo(byLeaf, proof.leaf, { claim, proof });
  }
  return byLeaf.get(leaf) ?? [];
}
