import { manifestUrlOf } from '../core/evidence/manifest-sources.js';
import { verifyPublishedAsset } from '../core/evidence/published-asset.js';
import { type CheckResult, checkUnder, orProblem, type ReaderTrust } from './check-evidence.js';
import { readService } from './read-service.js';

/**
 * Checks a public asset for a reader, with every event, receipt and key list fetched again.
 * @param url `<service>/archivist/v2/publicassets/<uuid>`
 */
export function checkAsset(url: string, reader: ReaderTrust, progress: (done: string) => void): Promise<CheckResult> {
  return orProblem(async () => {
    const name = manifestUrlOf(url);
    const published = { name, bytes: await readService(name) };
    const sources = reader.root && reader.keptManifest ? [published, reader.keptManifest] : [published];
    return checkUnder(sources, reader, [{ file: url, kind: 'url' }], (trust) =>
      verifyPublishedAsset(url, readService, trust, progress),
    );
  }, 'no_answer');
}
