import type { BundleFiles } from '../bundle/bundle-index.js';
import { PAGE_PATH } from '../bundle/bundle-layout.js';
import { type CutPage, comparePage, cutEvidencePage, evidenceZip, pageBuild } from '../bundle/evidence-page.js';
import { VerificationError } from '../errors.js';
import type { Sha256 } from '../sha256.js';
import { type Findings, findingsOf, notCovered } from '../verify/verdict.js';
import { openBundle } from './open-bundle.js';
import { UsageError } from './usage-error.js';

/** Names of known pages by their builds. */
export type KnownPages = ReadonlyMap<string, string>;

const NO_PAGE = 'it is not evidence, and not the page of a bundle: do not rely on what it shows';
const UNKNOWN = 'It is a page that this verifier does not know: do not rely on what it shows';

/** Returns the files in the page of a bundle. @throws {VerificationError} `malformed` */
export function filesInPage(page: Pick<CutPage, 'evidence'>): BundleFiles {
  try {
    return openBundle(evidenceZip(page));
  } catch (error) {
    throw error instanceof UsageError
      ? new VerificationError('malformed', `the evidence in it: ${error.message}`)
      : error;
  }
}

/**
 * Names the page that evidence was taken from. What the page shows beside its evidence was not checked.
 * @param known undefined where pages cannot be judged
 */
export function givenPageFindings(
  piece: string,
  page: CutPage,
  known: KnownPages | undefined,
  hash?: Sha256,
): Partial<Findings> {
  const says = [
    'a page for people: only the evidence in it was checked',
    ...(known ? [buildOf(page, known, hash)] : []),
  ];
  return notCovered(piece, 'explanation', says.join('. '));
}

function buildOf(page: CutPage, known: KnownPages, hash?: Sha256): string {
  const name = known.get(pageBuild(page, hash));
  return name === undefined ? UNKNOWN : `It is the page of ${name}`;
}

/**
 * Compares the page of a bundle with the bundle, and names it; it is not evidence. A page that shows other evidence
 * than the bundle holds is refused. An unknown page is not refused, because a later version has another page.
 * @param known undefined where pages cannot be judged
 */
export async function pageFindings(
  files: BundleFiles,
  known: KnownPages | undefined,
  hash?: Sha256,
): Promise<Partial<Findings>> {
  if (!Object.hasOwn(files, PAGE_PATH)) return {};
  const page = cutEvidencePage(files[PAGE_PATH]!);
  if (!page) return notCovered(PAGE_PATH, 'explanation', NO_PAGE);
  return findingsOf(PAGE_PATH, () => {
    const differs = comparePage(filesInPage(page), files);
    const build = known ? [buildOf(page, known, hash)] : [];
    const says = ['a page for people, which shows the evidence of this bundle', ...build];
    return notCovered(PAGE_PATH, 'explanation', [...says, ...(differs === '' ? [] : [differs])].join('. '));
  });
}
