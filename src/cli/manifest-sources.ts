import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { MANIFEST_PATH } from '../core/bundle/bundle-layout.js';
import { readEvidence, readInput, UsageError } from './evidence-file.js';
import { fetchFile } from './monitor/fetch-file.js';
import type { ManifestSource } from './root-trust.js';

const MOST_BYTES = 16 * 1024 * 1024;

/** Where a service publishes its manifests. */
export const MANIFEST_URL = '/verifiabledata/keys/manifest';

/**
 * Finds every key manifest in the evidence: manifest files, bundles and folders that contain one, and the service of a
 * URL. Their source does not matter, because the fingerprint of the root key checks them.
 * @param given files of `--manifest`
 * @throws {UsageError} when a file cannot be read, or a file of `--manifest` is not a key manifest
 */
export async function manifestSources(
  paths: readonly string[],
  given: readonly string[] = [],
): Promise<ManifestSource[]> {
  const sources: ManifestSource[] = [];
  for (const path of given) {
    const { kind, bytes } = await readEvidence(path);
    if (kind !== 'key_manifest') throw new UsageError(`--manifest: ${path} is not a key manifest`);
    sources.push({ name: path, bytes });
  }
  for (const path of paths) {
    const bytes = /^https?:\/\//.test(path) ? await published(path) : await inFile(path);
    if (bytes) sources.push({ name: path, bytes });
  }
  return sources;
}

function published(url: string): Promise<Uint8Array | undefined> {
  return fetchFile(new URL(MANIFEST_URL, url).href).catch(() => undefined);
}

async function inFile(path: string): Promise<Uint8Array | undefined> {
  const { kind, bytes } = await readEvidence(path);
  if (kind === 'key_manifest') return bytes;
  if (kind === 'folder') return readInput(join(path, MANIFEST_PATH)).catch(() => undefined);
  return kind === 'bundle' ? inZip(bytes) : undefined;
}

/** Ignores a zip that cannot be read: the check of the bundle refuses it with the reason. */
function inZip(zip: Uint8Array): Uint8Array | undefined {
  try {
    const isManifest = ({ name, originalSize }: { name: string; originalSize: number }) =>
      name === MANIFEST_PATH && originalSize <= MOST_BYTES;
    return unzipSync(zip, { filter: isManifest })[MANIFEST_PATH];
  } catch {
    return undefined;
  }
}
