import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import type { KeyManifest } from '../core/keys/key-manifest.js';
import { type ReadKeyManifest, readKeyManifest } from '../core/keys/read-key-manifest.js';
import { decodeKeyManifests, manifestJwks, verifyKeyManifests } from '../core/keys/verify-key-manifests.js';
import { replaceFile } from '../platform/durable-file.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import { UsageError } from './evidence-file.js';
import { rootThumbprint } from './root-option.js';
import { checkNotBefore } from './seen-manifest.js';

const MODE = 0o644;

/** A file that may hold manifests, and where it is from. */
export interface ManifestSource {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The newest of the manifests that were given, under the root key of the fingerprint. */
export interface RootTrust {
  readonly manifest: KeyManifest;
  /** Keys of statement logs, tenancy logs and their seals, revoked ones too: the verdict is judged by the manifest. */
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

const EVERY_STATE = ['pending', 'active', 'retired', 'revoked'];
const NOTHING_GIVEN =
  'the evidence contains no key manifest: give one with --manifest. A service publishes it at <service>/verifiabledata/keys/manifest; it needs no trusted channel, because the fingerprint checks it';

/**
 * Finds the newest key manifest among the sources that the root key of a fingerprint vouches for.
 * @param state folder in which the newest number is remembered; an older manifest is refused
 * @throws {UsageError} when there is none, or the fingerprint or the state cannot be read
 * @throws {VerificationError} when one is not the root key's, or the newest is older than one that was seen
 */
export async function readRootTrust(
  fingerprint: string,
  sources: readonly ManifestSource[],
  state: string | undefined,
): Promise<RootTrust> {
  const thumbprint = rootThumbprint(fingerprint);
  if (sources.length === 0) throw new UsageError(NOTHING_GIVEN);
  let newest: { readonly manifest: KeyManifest; readonly bytes: Uint8Array } | undefined;
  for (const { name, bytes } of sources) {
    const found = await verifyKeyManifests(decodeKeyManifests(bytes), thumbprint, nodeVerify).catch(
      (error: unknown) => {
        if (!(error instanceof VerificationError)) throw error;
        throw new VerificationError(error.code, `${name}: ${error.message}`);
      },
    );
    if (!newest || found.manifest.number > newest.manifest.number) newest = found;
  }
  if (state !== undefined) await remember(state, newest!);
  const { manifest } = newest!;
  return {
    manifest,
    logKeys: manifestJwks(manifest, ['statement_receipt', 'seal'], EVERY_STATE),
    issuerKeys: manifestJwks(manifest, ['issuer'], EVERY_STATE),
  };
}

/** One file for each keys log: a manifest that was seen is never taken back. */
async function remember(
  state: string,
  newest: { readonly manifest: KeyManifest; readonly bytes: Uint8Array },
): Promise<void> {
  const { subject, number } = newest.manifest;
  const path = join(state, `${subject.replace(/[^A-Za-z0-9-]/g, '_')}.key-manifest`);
  const seen = await readFile(path).catch(() => undefined);
  const before = seen && readSeen(new Uint8Array(seen), path);
  if (before) checkNotBefore(newest, before);
  if (before?.manifest.number === number) return;
  await mkdir(state, { recursive: true });
  await replaceFile(path, newest.bytes, MODE);
}

function readSeen(bytes: Uint8Array, path: string): ReadKeyManifest {
  try {
    return readKeyManifest(bytes);
  } catch {
    throw new UsageError(`--state: ${path} cannot be read`);
  }
}
