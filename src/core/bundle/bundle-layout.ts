import { parseBlobPath } from '../massif/blob-paths.js';

/** The files that a bundle has for one operation, and what each of them is. */
export const OPERATION_FILES = {
  'event.json': 'event',
  'transparent-statement.cose': 'transparent-statement',
  'signed-statement.cose': 'signed-statement',
  'statement-log-receipt.cose': 'statement-log-receipt',
  'tenancy-log-receipt.cose': 'tenancy-log-receipt',
  'tenancy-log-receipt-map.cose': 'tenancy-log-receipt-map',
  'witness/seal.sth': 'witnessed-seal',
  'witness/seal.tlog-proof': 'witnessed-seal-proof',
  'witness/event-in-seal.json': 'event-in-seal',
} as const;

/** The kind of a file in a bundle. The last two are not evidence. */
export type BundleFileKind =
  | (typeof OPERATION_FILES)[keyof typeof OPERATION_FILES]
  | 'massif'
  | 'seal'
  | 'explanation'
  | 'keys-copy';

/** Returns whether a kind of file is not evidence: a text for people, or a copy of keys. */
export function isExplanation(kind: string | undefined): boolean {
  return kind === 'explanation' || kind === 'keys-copy';
}

/** Where a file of a bundle belongs. */
interface BundlePlace {
  readonly kind: BundleFileKind;
  /** Of an operation's own file: the operation's folder, empty at the top. Undefined for what operations share. */
  readonly folder?: string;
}

export const TEXT_PATH = 'README.txt';
/** A page that shows and checks the bundle's evidence. The index does not list it, because the page contains the index. */
export const PAGE_PATH = 'index.html';
const LOG = 'log/';
const LOG_ROOT = 'v1/mmrs/';
const MANIFEST = /^keys\/key-manifest(?:-\d+)?\.cbor$/;
const OTHER_KEYS_COPY = /^keys\/(?:log-keys(?:-\d+)?\.cbor|did(?:-\d+)?\.json)$/;

/** Returns the path of a copy of keys. Copies of further times or issuers are numbered from 2 on. */
export const copyPath = (path: string, number: number): string =>
  number === 1 ? path : path.replace(/(\.\w+)$/, `-${number}$1`);

/** The path of a bundle's first copy of the key manifests. Copies of further times are numbered. */
export const MANIFEST_PATH = 'keys/key-manifest.cbor';

/** Returns whether a path is that of a copy of the key manifests. */
export const isManifestPath = (path: string): boolean => MANIFEST.test(path);

/** Returns what belongs at a path of a bundle; undefined if nothing does. */
export function placeOf(path: string): BundlePlace | undefined {
  if (path === TEXT_PATH || path === PAGE_PATH) return { kind: 'explanation' };
  if (isManifestPath(path) || OTHER_KEYS_COPY.test(path)) return { kind: 'keys-copy' };
  if (path.startsWith(LOG)) {
    const blob = parseBlobPath(`${LOG_ROOT}${path.slice(LOG.length)}`);
    return blob && { kind: blob.kind };
  }
  for (const [name, kind] of Object.entries(OPERATION_FILES)) {
    if (path === name) return { kind, folder: '' };
    const folder = path.endsWith(`/${name}`) ? path.slice(0, -name.length - 1) : '';
    if (/^[^/]+$/.test(folder)) return { kind, folder };
  }
  return undefined;
}

/** Returns the path in a bundle of a log's file, from its blob name. */
export function bundledLogPath(blobPath: string): string {
  return `${LOG}${blobPath.slice(LOG_ROOT.length)}`;
}

/** Returns the blob name of a log's file in a bundle; undefined for any other path. */
export function blobPathOf(path: string): string | undefined {
  return path.startsWith(LOG) ? `${LOG_ROOT}${path.slice(LOG.length)}` : undefined;
}
