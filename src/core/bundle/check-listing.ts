import { toHex } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type Sha256, sha256 } from '../sha256.js';
import { contradiction, type Findings, notCovered } from '../verify/verdict.js';
import { type BundledFile, type BundleFiles, type BundleIndex, INDEX_PATH } from './bundle-index.js';
import { isExplanation, placeOf } from './bundle-layout.js';

type Finding = Partial<Findings>;

/** Returns the finding that a piece of a bundle differs from what another piece says about it. */
export function bundleMismatch(path: string, why: string): Finding {
  return contradiction(path, new VerificationError('bundle_mismatch', why));
}

/** A page holds only as much of a bundle as fits. */
const LEFT_OUT = `${INDEX_PATH} lists it, but the page does not contain it: not checked. Give the whole bundle`;

/** How a file compares with the index. */
export type Listed = 'as listed' | 'changed' | 'lost' | 'not listed';

const counted = (operations: number): string => (operations === 1 ? 'one operation' : `${operations} operations`);

/** Compares files with an index, each SHA-256 computed once. */
export function listedAs(files: BundleFiles, index: BundleIndex | undefined, hash: Sha256 = sha256) {
  const listed = new Map(index?.files.map((file) => [file.path, file.sha256]));
  return (path: string): Listed => {
    const expected = listed.get(path);
    if (expected === undefined) return 'not listed';
    if (!Object.hasOwn(files, path)) return 'lost';
    return toHex(hash(files[path]!)) === expected ? 'as listed' : 'changed';
  };
}

function checkListed(
  { path, kind, operation }: BundledFile,
  folder: string | undefined,
  is: Listed,
  isPart: boolean,
): Finding {
  const place = placeOf(path);
  if (!place)
    return notCovered(path, 'unproven', `this program does not know files of the kind ${kind} there: not checked`);
  if (place.kind !== kind || place.folder !== folder)
    return bundleMismatch(path, `${INDEX_PATH} says that it is ${kind}, of operation ${operation ?? 'none'}`);
  if (isExplanation(kind) || is === 'as listed') return {};
  if (is === 'lost' && isPart) return notCovered(path, 'unproven', LEFT_OUT);
  return bundleMismatch(
    path,
    is === 'lost'
      ? `${INDEX_PATH} lists it, but it is missing in the bundle`
      : `its SHA-256 is not the one that ${INDEX_PATH} lists`,
  );
}

function checkOperations({ operations, files }: BundleIndex): Finding[] {
  const withEvent = new Set(files.flatMap(({ kind, operation }) => (kind === 'event' ? [operation] : [])));
  return operations
    .filter(({ number }) => !withEvent.has(number))
    .map(({ number }) => bundleMismatch(INDEX_PATH, `it lists no event of operation ${number}`));
}

/**
 * Compares a bundle's files with its index: a listed piece of evidence that is lost or changed refuses the bundle.
 * @param isPart whether the files may be only a part of the bundle, as in a page
 */
export function checkListing(index: BundleIndex, is: (path: string) => Listed, isPart: boolean): Finding[] {
  const folders = new Map<number | undefined, string>(index.operations.map(({ number, folder }) => [number, folder]));
  const open = `this index says that the bundle was made with ${counted(index.operations.length)}. It is not signed, and nothing proves that the log has no other operation`;
  return [
    notCovered(INDEX_PATH, 'by_design', open, ['operation_count', 'operations', 'files']),
    ...checkOperations(index),
    ...index.files.map((file) => checkListed(file, folders.get(file.operation), is(file.path), isPart)),
  ];
}

/**
 * Names the files that nothing checks. A file is unproven if an index should list it, or if its content claims to be
 * evidence or a conversation. Any other file is not evidence.
 */
export function checkUnlisted(
  files: BundleFiles,
  hasIndex: boolean,
  is: (path: string) => Listed,
  isEvidence: (bytes: Uint8Array) => boolean,
): Finding[] {
  return Object.keys(files).flatMap((path) => {
    const kind = placeOf(path)?.kind;
    if (path === INDEX_PATH || is(path) !== 'not listed' || isExplanation(kind) || (kind && !hasIndex)) return [];
    return kind !== undefined || isEvidence(files[path]!)
      ? [notCovered(path, 'unproven', `${INDEX_PATH} does not list it: not checked`)]
      : [notCovered(path, 'explanation', 'it is not evidence: not checked')];
  });
}
