import { concatBytes, equalBytes, fromBase64, toHex } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type Sha256, sha256 } from '../sha256.js';
import { type BundleFiles, INDEX_PATH } from './bundle-index.js';
import { isExplanation, PAGE_PATH, placeOf } from './bundle-layout.js';

/** A page that carries evidence, cut where the evidence is. */
export interface CutPage {
  readonly head: Uint8Array;
  /** Base64 of a zip, in ASCII. Empty in the page as the build made it. */
  readonly evidence: Uint8Array;
  readonly tail: Uint8Array;
}

const DOCTYPE = /^<!doctype html>/i;
/** Written as an expression: the page's own script contains this text, and must not look like the element. */
const ELEMENT = /<script id="evidence" type="application\/zip">([A-Za-z0-9+/]*={0,2})<\/script>/g;
const LATIN = new TextDecoder('latin1');

/** Cuts a page at its evidence (docs/formats/bundle.md). Returns undefined if the bytes are not such a page. */
export function cutEvidencePage(bytes: Uint8Array): CutPage | undefined {
  if (!DOCTYPE.test(LATIN.decode(bytes.subarray(0, 15)))) return undefined;
  // One character a byte: places in the text are places in the bytes.
  const [found, another] = LATIN.decode(bytes).matchAll(ELEMENT);
  if (!found || another) return undefined;
  const end = found.index + found[0].length - '</script>'.length;
  const start = end - found[1]!.length;
  return { head: bytes.subarray(0, start), evidence: bytes.subarray(start, end), tail: bytes.subarray(end) };
}

/** Returns the zip in a page. @throws {VerificationError} `malformed` */
export function evidenceZip({ evidence }: Pick<CutPage, 'evidence'>): Uint8Array {
  try {
    if (evidence.length % 4 === 0) return fromBase64(LATIN.decode(evidence));
  } catch {}
  throw new VerificationError('malformed', 'the evidence in it is not base64');
}

/** Returns the SHA-256, in hex, of a page without its evidence. All pages of one build have the same. */
export function pageBuild({ head, tail }: Pick<CutPage, 'head' | 'tail'>, hash: Sha256 = sha256): string {
  return toHex(hash(concatBytes(head, tail)));
}

const COPIES = 'Copies of keys or texts in it differ from those of the bundle';

/**
 * Compares the evidence in a bundle's page with the bundle's files.
 * @returns what differs among the files that are not evidence; empty when nothing does
 * @throws {VerificationError} `bundle_mismatch` when a piece of evidence differs or is not among the files
 */
export function comparePage(embedded: BundleFiles, files: BundleFiles): string {
  let differs = '';
  for (const [path, bytes] of Object.entries(embedded)) {
    if (Object.hasOwn(files, path) && equalBytes(files[path]!, bytes)) continue;
    if (isExplanation(placeOf(path)?.kind)) differs = COPIES;
    // Without an index a bundle is incomplete already, and says so.
    else if (path !== INDEX_PATH || Object.hasOwn(files, path)) throw mismatch(path, Object.hasOwn(files, path));
  }
  return differs;
}

function mismatch(path: string, isThere: boolean): VerificationError {
  const what = isThere ? `is not the ${path} of the bundle` : 'is missing in the bundle';
  return new VerificationError('bundle_mismatch', `${PAGE_PATH} shows other evidence: its ${path} ${what}`);
}
