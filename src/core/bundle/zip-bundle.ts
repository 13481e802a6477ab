import { deflateSync, Zip, ZipPassThrough } from 'fflate';
import { concatBytes, toBase64, utf8 } from '../bytes.js';
import { type BundleFiles, INDEX_PATH } from './bundle-index.js';
import { PAGE_PATH } from './bundle-layout.js';
import type { CutPage } from './evidence-page.js';
import { ZIP_TIME } from './zip-time.js';

/** The page of bundles as the build made it, compressed once for all bundles. */
export interface PageTemplate extends Pick<CutPage, 'head' | 'tail'> {
  /** Raw deflate (RFC 1951) of the head, up to a whole byte and without a last block: more follows it. */
  readonly deflatedHead: Uint8Array;
}

const DEFLATED = 8;
/** Of evidence in a page, compressed. Base64 adds a third, and no file of a bundle is larger than 16 MiB. */
const MOST_EMBEDDED = 8 * 1024 * 1024;

/** A file of a zip that is compressed already. */
class DeflatedFile extends ZipPassThrough {
  override readonly compression = DEFLATED;
  override readonly mtime = ZIP_TIME;
  readonly #deflated: Uint8Array<ArrayBuffer>;

  constructor(path: string, deflated: Uint8Array) {
    super(path);
    this.#deflated = new Uint8Array(deflated);
  }

  protected override process(): void {
    this.ondata(null, this.#deflated, true);
  }
}

interface PackedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly deflated: Uint8Array;
}

function zipOf(files: readonly PackedFile[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error) throw error;
    parts.push(part);
  });
  for (const { path, bytes, deflated } of files) {
    const file = new DeflatedFile(path, deflated);
    zip.add(file);
    file.push(bytes, true);
  }
  zip.end();
  return concatBytes(...parts);
}

/** The index first, log files last: only they are large. A massif and its seal stand beside each other. */
function order({ path }: PackedFile): string {
  if (path === INDEX_PATH) return '0';
  return path.startsWith('log/') ? `2${path.replace('/massifseals/', '/massifs/')}` : `1${path}`;
}

/** The files that a page holds: all of them, or as many as fit. */
function embedded(files: readonly PackedFile[]): PackedFile[] {
  const sorted = files.toSorted((left, right) => (order(left) < order(right) ? -1 : 1));
  let size = 0;
  const end = sorted.findIndex(({ deflated }) => {
    size += deflated.length;
    return size > MOST_EMBEDDED;
  });
  return end < 0 ? sorted : sorted.slice(0, end);
}

function packedPage(files: readonly PackedFile[], page: PageTemplate): PackedFile {
  const evidence = utf8(toBase64(zipOf(embedded(files))));
  return {
    path: PAGE_PATH,
    bytes: concatBytes(page.head, evidence, page.tail),
    deflated: concatBytes(page.deflatedHead, deflateSync(concatBytes(evidence, page.tail), { level: 1 })),
  };
}

/**
 * Returns the zip of a bundle, with a page that shows and checks its evidence. The same files make the same bytes.
 * @param page undefined where the build has no page: the bundle has none either
 */
export function zipBundle(files: BundleFiles, page: PageTemplate | undefined, level: 1 | 6): Uint8Array {
  const packed = Object.entries(files).map(
    ([path, bytes]): PackedFile => ({ path, bytes, deflated: deflateSync(bytes, { level }) }),
  );
  return zipOf(page ? [packedPage(packed, page), ...packed] : packed);
}
