import { type BundledOperation, type BundleFiles, INDEX_PATH } from '../core/bundle/bundle-index.js';
import { copyPath, PAGE_PATH, placeOf, TEXT_PATH } from '../core/bundle/bundle-layout.js';
import { completeBundle } from '../core/bundle/complete-bundle.js';
import { zipBundle } from '../core/bundle/zip-bundle.js';
import { equalBytes } from '../core/bytes.js';
import { checkBundleLimits, MOST_FILES, openBundle } from '../core/evidence/open-bundle.js';
import { nativeSha256 } from '../platform/native-sha256.js';
import { bundlePageReader } from '../service/built-pages.js';
import type { ArchivistReader } from './archivist-reader.js';

/** An event whose evidence is exported. */
export interface FoundEvent {
  /** Its path below `/archivist`, such as `v2/assets/<uuid>/events/<uuid>`. */
  readonly identity: string;
  readonly operation: string;
}

/** One bundle of an export. */
interface ExportPart {
  readonly zip: Uint8Array;
  /** The number of events in it. */
  readonly events: number;
}

/** When a part is full. */
interface PartLimits {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Below what verifiers read (docs/formats/bundle.md), so that the last event of a part fits too, with the page and the
 * index. A massif that was read first may have become half as large again when it is read for the last time.
 */
const PART: PartLimits = { files: MOST_FILES - 100, bytes: 128 * 1024 * 1024 };

type Files = Map<string, Uint8Array>;

/** What was read of a part. */
interface ReadPart {
  readonly files: BundleFiles;
  readonly operations: readonly BundledOperation[];
}

/**
 * Reads the evidence of events and returns it as one bundle, or as several if it is more than verifiers read in one. Each
 * of them verifies by itself. Only one is in memory at a time.
 * @param events in the order of the bundle
 * @throws {UsageError} when the service refuses a request
 */
export async function* exportParts(
  reader: ArchivistReader,
  events: readonly FoundEvent[],
  progress: (read: number) => void,
  limits = PART,
): AsyncGenerator<ExportPart> {
  const page = await bundlePageReader()();
  for (let done = 0; done < events.length; ) {
    const from = done;
    const { files, operations } = await readPart(reader, events.slice(from), limits, (read) => progress(from + read));
    done += operations.length;
    const complete = completeBundle(files, operations, page !== undefined, nativeSha256);
    checkBundleLimits(complete);
    yield { zip: zipBundle(complete, page, 6), events: operations.length };
  }
}

/**
 * Reads events until the part is full. Each massif is read once, and again at the end if its log has grown: it is a
 * hundred times as large as an event's own pieces, and thousands of events share it.
 */
async function readPart(
  reader: ArchivistReader,
  events: readonly FoundEvent[],
  limits: PartLimits,
  progress: (read: number) => void,
): Promise<ReadPart> {
  const files: Files = new Map();
  const operations: BundledOperation[] = [];
  /** By the path of each seal: the seal that its massif was read with, and an event in that massif. */
  const massifs = new Map<string, { readonly seal: Uint8Array; readonly identity: string }>();
  let bytes = 0;
  const readMassif = async (identity: string, sealPath: string) => {
    for (const [name, content] of Object.entries(await evidence(reader, identity, 'page')))
      if (/^(?:log|keys)\//.test(name)) bytes += addFile(files, '', name, content);
    massifs.set(sealPath, { seal: files.get(sealPath)!, identity });
  };
  for (const [place, { identity, operation }] of events.entries()) {
    const folder = `${String(place + 1).padStart(4, '0')}-${operation.replace(/[^\w-]+/g, '_').slice(0, 64)}`;
    const own = Object.entries(await evidence(reader, identity, 'page,massif'));
    for (const [name, content] of own) bytes += addFile(files, folder, name, content);
    operations.push({ number: place + 1, folder, identity: identity.replace(/^v\d\//, '') });
    for (const [name] of own)
      if (placeOf(name)?.kind === 'seal' && !massifs.has(name)) await readMassif(identity, name);
    progress(operations.length);
    if (bytes >= limits.bytes || files.size >= limits.files) break;
  }
  for (const [sealPath, { seal, identity }] of massifs)
    if (!equalBytes(files.get(sealPath)!, seal)) await readMassif(identity, sealPath);
  return { files: Object.fromEntries(files), operations };
}

async function evidence(reader: ArchivistReader, identity: string, without: string): Promise<BundleFiles> {
  return openBundle(await reader.bytes(`/archivist/${identity}/evidence?without=${without}`));
}

/**
 * Adds a file and returns by how many bytes the part has grown. The text, the index and the page of each event's bundle
 * are left out: the part has its own.
 */
function addFile(files: Files, folder: string, name: string, bytes: Uint8Array): number {
  if (name === TEXT_PATH || name === INDEX_PATH || name === PAGE_PATH) return 0;
  const isKeys = name.startsWith('keys/');
  // The newest copy of a log file wins: a log only grows.
  const path = isKeys ? keysPath(files, name, bytes) : name.startsWith('log/') ? name : `${folder}/${name}`;
  const grown = bytes.length - (files.get(path)?.length ?? 0);
  files.set(path, bytes);
  return grown;
}

/** A rotation between two answers changes the keys, and each issuer has its own: every different copy is kept. */
function keysPath(files: Files, name: string, bytes: Uint8Array): string {
  for (let number = 1; ; number += 1) {
    const path = copyPath(name, number);
    const copy = files.get(path);
    if (!copy || equalBytes(copy, bytes)) return path;
  }
}
