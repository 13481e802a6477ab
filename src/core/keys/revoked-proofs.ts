import { appendTo } from '../append-to.js';
import { fromHex, toBase64Url } from '../bytes.js';
import type { Claim, ClaimKind, InclusionProof, Proof } from '../verify/claim.js';
import type { KeyManifest, ManifestKey } from './key-manifest.js';

/**
 * Returns the key of a proof as the manifest lists it; undefined for proofs without a key, and for keys from another
 * source.
 */
export function keyOf(manifest: KeyManifest, proof: Proof): ManifestKey | undefined {
  if (!('key' in proof)) return undefined;
  const keyId = toBase64Url(fromHex(proof.key.thumbprint));
  return manifest.keys.find((key) => key.keyId === keyId);
}

/** Returns whether a proof is by a key that the manifest does not list as stolen. */
export const isByGoodKey = (manifest: KeyManifest, proof: Proof): boolean =>
  keyOf(manifest, proof)?.state !== 'revoked';

export const isStatementLog = (proof: Proof): proof is InclusionProof =>
  proof.type === 'inclusion' && proof.vds === 1 && proof.signed === 'root' && proof.tree_size !== undefined;

export const isTenancyLog = (proof: Proof): proof is InclusionProof => proof.type === 'inclusion' && proof.vds === 3;

/** A leaf at its place. An empty path proves no place, and the leaf is a hash that no other log has. */
export const leafOf = ({ leaf, mmr_index: index = 'anywhere' }: InclusionProof): string => `${leaf} ${index}`;

/**
 * The leaves of tenancy logs that were in their log before a moment at which the statement logs had these sizes: a seal over
 * them is registered in a statement log, and witnesses cosigned a checkpoint of it that is no larger. The seal's
 * own signature does not matter: the registered bytes are older than the moment.
 */
export function leavesBefore(claims: readonly Claim[], sizes: Sizes): ReadonlySet<string> {
  const seen = (proof: Proof) => {
    if (proof.type !== 'witness' || proof.witnesses.length === 0) return false;
    const size = sizes(proof.origin);
    return size !== undefined && BigInt(proof.tree_size) <= size;
  };
  const older = claims.filter(({ by }) => by.some(seen));
  const proofs = older.flatMap(({ by }) => by.filter(isTenancyLog));
  return new Set(proofs.flatMap((proof) => [leafOf(proof), `${proof.leaf} anywhere`]));
}

/**
 * The size of a statement log at a moment, by the name that a manifest has. A fork has another name, and may have other
 * entries in places that the size covers.
 */
export type Sizes = (log: string) => bigint | undefined;

/**
 * Whether a claim is proven to be older than a key's revocation. Either it is an entry of a statement log whose receipt, by
 * a key that is not revoked, is over a tree that was no larger than the log then: a log only grows, so the entry was there.
 * Or it is about a leaf of a tenancy log that a registered seal proves to be older.
 */
function isOlder(manifest: KeyManifest, claim: Claim, revoked: Revoked): boolean {
  const { sizes, leaves } = revoked;
  const inLog = claim.by.filter(isStatementLog).some((proof) => {
    const size = sizes(proof.log.subject ?? '');
    const signer = keyOf(manifest, proof);
    return size !== undefined && signer !== undefined && signer.state !== 'revoked' && BigInt(proof.tree_size!) <= size;
  });
  return inLog || claim.by.filter(isTenancyLog).some((proof) => leaves.has(leafOf(proof)));
}

/** What is known of the moment of a key's revocation. */
interface Revoked {
  readonly sizes: Sizes;
  readonly leaves: ReadonlySet<string>;
}

/** Looks through the claims once for each revoked key. */
export function revocationsAmong(claims: readonly Claim[]): (key: ManifestKey) => Revoked {
  const known = new Map<ManifestKey, Revoked>();
  return (key) => {
    const sizes: Sizes = (log) => key.revokedAt?.[log];
    const revoked = known.get(key) ?? { sizes, leaves: leavesBefore(claims, sizes) };
    known.set(key, revoked);
    return revoked;
  };
}

/** Returns why a claim does not count, as a sentence; undefined if it counts. */
export function refusalOf(
  manifest: KeyManifest,
  claim: Claim,
  revocation: (key: ManifestKey) => Revoked,
): string | undefined {
  for (const proof of claim.by) {
    const key = keyOf(manifest, proof);
    if (key?.state !== 'revoked' || isOlder(manifest, claim, revocation(key))) continue;
    return `signed with the ${key.role} key ${key.keyId}, which was stolen and revoked at ${new Date(key.validUntilMs!).toISOString()}; no given evidence proves that it was signed before that`;
  }
  return undefined;
}

/** Claims that say that a log holds a leaf, and nothing about the log. */
const ABOUT_A_LEAF: readonly ClaimKind[] = ['statement', 'entry', 'event'];

const isInclusion = (proof: Proof): proof is InclusionProof => proof.type === 'inclusion';

/** The same leaf in the other kind of tree is another hash. */
const inTree = ({ vds, leaf }: InclusionProof): string => `${vds} ${leaf}`;

/** A leaf of a tenancy log has one place. A statement log can have the same entry twice, and its generations elsewhere. */
function isSamePlace(one: InclusionProof, other: InclusionProof): boolean {
  const [here, there] = [one.mmr_index, other.mmr_index];
  return here === undefined || there === undefined || here === there;
}

/** Whether a claim, or one of its proofs by itself, does not count. */
type IsRefused = (claim: Claim) => boolean;

/** Returns the inclusion proofs of all claims that count by themselves, by what they prove. */
export function countingProofs(
  claims: readonly Claim[],
  isRefused: IsRefused,
): ReadonlyMap<string, readonly InclusionProof[]> {
  const counting = new Map<string, InclusionProof[]>();
  for (const claim of claims)
    for (const proof of claim.by.filter(isInclusion))
      if (!isRefused({ ...claim, by: [proof] })) appendTo(counting, inTree(proof), proof);
  return counting;
}

/**
 * The claim without the inclusion proofs that do not count, where others prove the same leaf, in whatever piece they are:
 * more evidence must not prove less. Its signature stays, and is judged with what remains.
 */
export function withCountingProofs(
  claim: Claim,
  counting: ReadonlyMap<string, readonly InclusionProof[]>,
  isRefused: IsRefused,
): Claim {
  if (!ABOUT_A_LEAF.includes(claim.kind) || !isRefused(claim)) return claim;
  const by = claim.by.flatMap((proof): readonly Proof[] => {
    if (!isInclusion(proof)) return [proof];
    const others = counting.get(inTree(proof))?.filter((other) => isSamePlace(proof, other)) ?? [];
    return others.length > 0 ? others : [proof];
  });
  return { ...claim, by: [...new Set(by)] };
}
