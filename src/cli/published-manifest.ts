import { type ManifestSource, manifestUrlOf } from '../core/evidence/manifest-sources.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { readEvidence } from './evidence-file.js';
import { fetchFile } from './monitor/fetch-file.js';

/** The manifests that the service of a public asset's URL publishes; none if it does not answer. */
export async function publishedManifests(url: string): Promise<ManifestSource[]> {
  const bytes = await fetchFile(manifestUrlOf(url)).catch(() => undefined);
  return bytes ? [{ name: url, bytes }] : [];
}

/** Reads the files of `--manifest`. @throws {UsageError} when one of them is not a key manifest */
export async function givenManifests(paths: readonly string[] = []): Promise<ManifestSource[]> {
  const sources: ManifestSource[] = [];
  for (const path of paths) {
    const { kind, bytes } = await readEvidence(path);
    if (kind !== 'key_manifest') throw new UsageError(`--manifest: ${path} is not a key manifest`);
    sources.push({ name: path, bytes });
  }
  return sources;
}
