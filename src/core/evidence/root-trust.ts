import { keyThumbprint } from '../cose/cose-key.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { VerifySignature } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import { judgeByManifest } from '../keys/judge-by-manifest.js';
import type { KeyManifest } from '../keys/key-manifest.js';
import { withProvenCopies } from '../keys/proven-copies.js';
import { isByGoodKey } from '../keys/revoked-proofs.js';
import {
  areUnderRoot,
  decodeKeyManifests,
  joinKeyManifests,
  manifestJwks,
  type TrustedKeyManifest,
  verifyKeyManifests,
} from '../keys/verify-key-manifests.js';
import { withKeptHistory } from '../verify/one-history.js';
import { createVerdict, failure, notCovered } from '../verify/verdict.js';
import type { ManifestSource } from './manifest-sources.js';
import { UsageError } from './usage-error.js';
import type { EvidenceVerdict } from './verify-evidence.js';

/** The newest of the given manifests that the root key of the fingerprint signed. */
export interface RootTrust {
  readonly manifest: KeyManifest;
  /** Every manifest that was given and that the root key vouches for, in rising order; the newest is the last. */
  readonly history: readonly TrustedKeyManifest[];
  /** Where it was found. */
  readonly source: ManifestSource;
  /** Keys of statement logs, tenancy logs and their seals, revoked ones too: the verdict is judged by the manifest. */
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
  /** Where manifests of other root keys were found, which are not used. */
  readonly others: readonly string[];
}

const EVERY_STATE = ['pending', 'active', 'retired', 'revoked'];
const OTHER_ROOT = 'has a key manifest of another root key, which is not used';

/**
 * Finds the newest key manifest among the sources that the root key of a fingerprint vouches for. Evidence from before a
 * stolen root was replaced has manifests of the old one only: they are left out beside one of the new root.
 * @param thumbprint RFC 9679 SHA-256 thumbprint of the root key
 * @param sources at least one
 * @throws {UsageError} when there is none
 * @throws {VerificationError} when none is the root key's, when the signature of one of its own is wrong, or when they are
 *   not of one history
 */
export async function trustRoot(
  thumbprint: Uint8Array,
  sources: readonly ManifestSource[],
  verifySignature?: VerifySignature,
): Promise<RootTrust> {
  const read = await Promise.all(
    sources.map(async (source) => ({ source, manifests: await named(source, () => decodeKeyManifests(source.bytes)) })),
  );
  const own = read.filter(({ manifests }) => areUnderRoot(manifests, thumbprint));
  const chains = await Promise.all(
    (own.length === 0 ? read : own).map(async ({ source, manifests }) => ({
      source,
      chain: await named(source, () => verifyKeyManifests(manifests, thumbprint, verifySignature)),
    })),
  );
  const history = joinKeyManifests(chains.map(({ chain }) => chain));
  const newest = history.at(-1);
  if (!newest) throw new UsageError('the evidence contains no key manifest');
  const { manifest } = newest;
  const { source } = chains.find(({ chain }) => chain.at(-1)!.manifest.number === manifest.number)!;
  return {
    manifest,
    history,
    source,
    logKeys: manifestJwks(manifest, ['statement_receipt', 'seal'], EVERY_STATE),
    issuerKeys: manifestJwks(manifest, ['issuer'], EVERY_STATE),
    others: [...new Set(read.filter((each) => !own.includes(each)).map((each) => each.source.name))],
  };
}

/** What the work finds; the message of its failure begins with the source. */
async function named<T>({ name }: ManifestSource, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new VerificationError(error.code, `${name}: ${error.message}`);
  }
}

/**
 * Returns the thumbprint of the root key that signed the newest of these manifests. It is the evidence's own claim, and
 * proves nothing until a person compares it with a fingerprint from elsewhere.
 * @throws {VerificationError} `malformed`
 */
export function claimedRoot({ bytes }: ManifestSource): Uint8Array {
  return keyThumbprint(decodeKeyManifests(bytes).at(-1)!.signer);
}

/**
 * Checks evidence with the keys of a key manifest, and judges the verdict by that manifest. If the root key signed no
 * manifest, the whole is refused; if a manifest is of a later version, the whole is unproven.
 * @param root as `trustRoot` finds it
 */
export async function verifyUnderRoot(
  root: () => Promise<RootTrust>,
  check: (root: RootTrust) => Promise<EvidenceVerdict>,
): Promise<EvidenceVerdict> {
  try {
    const trusted = await root();
    const { verdict, files } = await check(trusted);
    const { manifest } = trusted;
    const judged = await withKeptHistory(judgeByManifest(await withProvenCopies(verdict, manifest), manifest), (seal) =>
      isByGoodKey(manifest, seal),
    );
    const unused = trusted.others.map((name) => notCovered(name, 'explanation', OTHER_ROOT));
    return { verdict: createVerdict(judged, unused), files };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { verdict: createVerdict(failure('key manifest', error)), files: [] };
  }
}
