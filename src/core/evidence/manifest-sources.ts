import { isManifestPath, MANIFEST_PATH } from '../bundle/bundle-layout.js';
import type { EvidenceFile, EvidenceFolder } from './evidence-file.js';
import type { EvidenceKind } from './evidence-kind.js';

/** Where a service publishes its manifests. */
export const MANIFEST_URL = '/verifiabledata/keys/manifest';

/** The same for the service of a public asset's URL, which may be below a path of its host. */
export function manifestUrlOf(assetUrl: string): string {
  const { origin, pathname } = new URL(assetUrl);
  return origin + pathname.slice(0, Math.max(0, pathname.lastIndexOf('/archivist/'))) + MANIFEST_URL;
}

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
    if (kind === 'key_manifest') sources.push({ name, bytes });
    else if (folder) for (const copy of await copiesIn(name, kind, folder)) sources.push(copy);
  }
  return sources;
}

/** All of them, whatever numbers are left out: nothing signs the names of files. */
async function copiesIn(name: string, kind: EvidenceKind, folder: EvidenceFolder): Promise<ManifestSource[]> {
  const listed = kind === 'bundle' ? folder.files().then(Object.keys) : folder.replica().then(({ others }) => others);
  // A folder that cannot be listed is refused by its check, with the reason.
  const paths: readonly string[] = await listed.catch(() => [MANIFEST_PATH]);
  const copies = await Promise.all(paths.filter(isManifestPath).map((path) => folder.file(path)));
  return copies.flatMap((bytes) => (bytes ? [{ name, bytes }] : []));
}
