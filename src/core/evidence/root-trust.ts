import { equalBytes } from '../bytes.js';
import { keyThumbprint } from '../cose/cose-key.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { VerifySignature } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import { judgeByManifest } from '../keys/judge-by-manifest.js';
import type { KeyManifest } from '../keys/key-manifest.js';
import {
  decodeKeyManifests,
  manifestJwks,
  type TrustedKeyManifest,
  verifyKeyManifests,
} from '../keys/verify-key-manifests.js';
import { contradiction, createVerdict } from '../verify/verdict.js';
import type { ManifestSource } from './manifest-sources.js';
import { UsageError } from './usage-error.js';
import type { EvidenceVerdict } from './verify-evidence.js';

/** The newest of the manifests that were given, under the root key of the fingerprint. */
export interface RootTrust {
  readonly manifest: KeyManifest;
  /** The manifest itself, as the keys log holds it. */
  readonly bytes: Uint8Array;
  /** Where it was found. */
  readonly source: ManifestSource;
  /** Keys of statement logs, tenancy logs and their seals, revoked ones too: the verdict is judged by the manifest. */
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

const EVERY_STATE = ['pending', 'active', 'retired', 'revoked'];

/**
 * Finds the newest key manifest among the sources that the root key of a fingerprint vouches for.
 * @param thumbprint RFC 9679 SHA-256 thumbprint of the root key
 * @param sources at least one
 * @throws {UsageError} when there is none
 * @throws {VerificationError} when one is not the root key's, or the root key signed two manifests with one number
 */
export async function trustRoot(
  thumbprint: Uint8Array,
  sources: readonly ManifestSource[],
  verifySignature?: VerifySignature,
): Promise<RootTrust> {
  let newest: (TrustedKeyManifest & { readonly source: ManifestSource }) | undefined;
  for (const source of sources) {
    const found = { ...(await verified(source, thumbprint, verifySignature)), source };
    const { number } = found.manifest;
    if (number === newest?.manifest.number && !equalBytes(found.bytes, newest.bytes))
      throw new VerificationError('manifest_invalid', `the root key has signed two key manifests ${number}`);
    if (!newest || number > newest.manifest.number) newest = found;
  }
  if (!newest) throw new UsageError('the evidence contains no key manifest');
  const { manifest, bytes, source } = newest;
  return {
    manifest,
    bytes,
    source,
    logKeys: manifestJwks(manifest, ['statement_receipt', 'seal'], EVERY_STATE),
    issuerKeys: manifestJwks(manifest, ['issuer'], EVERY_STATE),
  };
}

async function verified({ name, bytes }: ManifestSource, thumbprint: Uint8Array, verify?: VerifySignature) {
  try {
    return await verifyKeyManifests(decodeKeyManifests(bytes), thumbprint, verify);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new VerificationError(error.code, `${name}: ${error.message}`);
  }
}

/**
 * Returns the thumbprint of the root key that signed the newest of these manifests: what the evidence says of itself, which
 * proves nothing until a person compares it with a fingerprint from elsewhere.
 * @throws {VerificationError} `malformed`
 */
export function claimedRoot({ bytes }: ManifestSource): Uint8Array {
  return keyThumbprint(decodeKeyManifests(bytes).at(-1)!.signer);
}

/**
 * Checks evidence with the keys of a key manifest, and judges the verdict by that manifest. A manifest that the root key
 * did not sign refuses the whole.
 * @param root as `trustRoot` finds it
 */
export async function verifyUnderRoot(
  root: () => Promise<RootTrust>,
  check: (root: RootTrust) => Promise<EvidenceVerdict>,
): Promise<EvidenceVerdict> {
  try {
    const trusted = await root();
    const { verdict, files } = await check(trusted);
    return { verdict: judgeByManifest(verdict, trusted.manifest), files };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { verdict: createVerdict(contradiction('key manifest', error)), files: [] };
  }
}
