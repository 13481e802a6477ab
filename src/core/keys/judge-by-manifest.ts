import { fromHex, toBase64Url } from '../bytes.js';
import type { Claim, InclusionProof, Proof } from '../verify/claim.js';
import { createVerdict, type Findings, missing, notCovered, type Verdict } from '../verify/verdict.js';
import type { KeyManifest, ManifestKey } from './key-manifest.js';

const iso = (ms: number): string => new Date(ms).toISOString();

/** The key of a proof, as the manifest lists it; undefined for proofs without one and for keys that were given otherwise. */
function keyOf(manifest: KeyManifest, proof: Proof): ManifestKey | undefined {
  if (!('key' in proof)) return undefined;
  const keyId = toBase64Url(fromHex(proof.key.thumbprint));
  return manifest.keys.find((key) => key.keyId === keyId);
}

const isStatementLog = (proof: Proof): proof is InclusionProof =>
  proof.type === 'inclusion' && proof.vds === 1 && proof.signed === 'root' && proof.tree_size !== undefined;

/**
 * Whether a claim is proven to be older than a key's revocation: an entry of a statement log whose receipt, by a key that is
 * not revoked, is over a tree that was no larger than the log then. A log only grows, so the entry was there.
 */
function isOlder(manifest: KeyManifest, claim: Claim, revoked: ManifestKey): boolean {
  return claim.by.filter(isStatementLog).some((proof) => {
    const size = revoked.revokedAt?.[proof.log.subject ?? ''];
    const signer = keyOf(manifest, proof);
    return size !== undefined && signer !== undefined && signer.state !== 'revoked' && BigInt(proof.tree_size!) <= size;
  });
}

/** Why a claim does not count, in a sentence; undefined when it does. */
function refusalOf(manifest: KeyManifest, claim: Claim): string | undefined {
  for (const proof of claim.by) {
    const key = keyOf(manifest, proof);
    if (key?.state !== 'revoked' || isOlder(manifest, claim, key)) continue;
    return `signed with the ${key.role} key ${key.keyId}, which was stolen and revoked at ${iso(key.validUntilMs!)}; no given evidence proves that it was signed before that`;
  }
  return undefined;
}

function isOlderThanManifests({ logs, firstIssuedAtMs }: KeyManifest, { by, facts }: Claim): boolean {
  const inLog = by.filter(isStatementLog).some(({ log, leaf_index: index }) => {
    const first = logs.find(({ name }) => name === log.subject)?.firstSize;
    return first !== undefined && index !== undefined && BigInt(index) < first;
  });
  return inLog || (facts.committed !== undefined && Date.parse(facts.committed) < firstIssuedAtMs);
}

/**
 * Judges a verdict by the manifest that its keys are from: a claim of a revoked key counts only if a log proves that it is
 * older than the revocation; otherwise its facts are taken away and the piece is unproven. Says which manifest was used, that
 * later revocations are not known, and of which claims the manifests are too young to know.
 */
export function judgeByManifest(verdict: Verdict, manifest: KeyManifest): Verdict {
  const judged = verdict.claims.map((claim) => ({ claim, refusal: refusalOf(manifest, claim) }));
  const dropped = judged.flatMap(({ claim, refusal }): Partial<Findings>[] =>
    refusal === undefined ? [] : [notCovered(claim.piece, 'unproven', refusal)],
  );
  const kept = judged.filter(({ refusal }) => refusal === undefined).map(({ claim }) => claim);
  const older = kept.filter((claim) => isOlderThanManifests(manifest, claim));
  const when = `key manifest ${manifest.number} of ${iso(manifest.issuedAtMs)}`;
  return createVerdict(
    { ...verdict, claims: kept },
    ...dropped,
    ...older.map(({ piece }) =>
      missing(
        'key_history',
        `${piece} is older than the manifest: manifest 1 was issued at ${iso(manifest.firstIssuedAtMs)}, and only the deployment itself vouches for its keys before that time`,
      ),
    ),
    missing('later_manifests', `the keys are from ${when}: later revocations are not known`),
  );
}
