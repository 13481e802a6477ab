import { MANIFEST_PATH } from '../bundle/bundle-layout.js';
import type { EvidenceFile } from './evidence-file.js';

/** Where a service publishes its manifests. */
export const MANIFEST_URL = '/verifiabledata/keys/manifest';

/** Bytes that may hold key manifests, and where they are from. */
export interface ManifestSource {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Finds every key manifest in the evidence: manifest files, and bundles and folders that contain one. Their source does
 * not matter, because the fingerprint of the root key checks them.
 */
export async function manifestSources(files: readonly EvidenceFile[]): Promise<ManifestSource[]> {
  const sources: ManifestSource[] = [];
  for (const { path: name, kind, bytes, folder } of files) {
    const found = kind === 'key_manifest' ? bytes : await folder?.file(MANIFEST_PATH);
    if (found) sources.push({ name, bytes: found });
  }
  return sources;
}
