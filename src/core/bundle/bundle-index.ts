import { toHex, utf8 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type Sha256, sha256 } from '../sha256.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import { type BundleFileKind, placeOf } from './bundle-layout.js';

/** An operation that a bundle holds the evidence of. */
export interface BundledOperation {
  /** Its place in the bundle, from 1. */
  readonly number: number;
  /** The folder with its files; empty where the bundle is about one operation and its files lie at the top. */
  readonly folder: string;
  /** Identity of its event, in the form in which the service showed it. */
  readonly identity: string;
}

/** A file of a bundle, as its index describes it. */
export interface BundledFile {
  readonly path: string;
  /** A kind that this program does not know is kept: such a file is named as not checked. */
  readonly kind: BundleFileKind | (string & {});
  /** The operation that it belongs to; undefined for what several share. */
  readonly operation?: number | undefined;
  /** SHA-256 of its bytes, in hex. */
  readonly sha256: string;
}

/** What a bundle was made with. It is not signed: it shows loss and damage, and proves nothing about a log. */
export interface BundleIndex {
  readonly operations: readonly BundledOperation[];
  readonly files: readonly BundledFile[];
}

/** The files of a bundle by their paths. */
export type BundleFiles = Readonly<Record<string, Uint8Array>>;

export const INDEX_PATH = 'index.json';
const FORMAT = 'vcon-archivist evidence bundle';
const VERSION = 1;
const MOST_FILES = 20_000;

/**
 * Returns the index of a bundle's files (docs/formats/bundle.md).
 * @throws {TypeError} when a file is in no place of the layout, or its folder is that of no operation
 */
export function bundleIndex(
  files: BundleFiles,
  operations: readonly BundledOperation[],
  hash: Sha256 = sha256,
): BundleIndex {
  const numbers = new Map(operations.map(({ folder, number }) => [folder, number]));
  const indexed = Object.keys(files)
    .sort()
    .map((path): BundledFile => {
      const place = placeOf(path);
      if (!place) throw new TypeError(`a bundle has no place for ${path}`);
      const operation = place.folder === undefined ? undefined : numbers.get(place.folder);
      if (place.folder !== undefined && operation === undefined) throw new TypeError(`${path} is of no operation`);
      return { path, kind: place.kind, operation, sha256: toHex(hash(files[path]!)) };
    });
  return { operations, files: indexed };
}

/** Returns the bytes of an index. */
export function encodeBundleIndex({ operations, files }: BundleIndex): Uint8Array {
  const value = { format: FORMAT, version: VERSION, operation_count: operations.length, operations, files };
  return utf8(`${JSON.stringify(value, null, 2)}\n`);
}

type Json = Readonly<Record<string, unknown>>;

function malformed(why: string): VerificationError {
  return new VerificationError('malformed', `${INDEX_PATH}: ${why}`);
}

function records(value: unknown, name: string): Json[] {
  const good = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null);
  if (!good) throw malformed(`${name} is not a list of objects`);
  if (value.length > MOST_FILES) throw malformed(`${name} has more than ${MOST_FILES} members`);
  return value as Json[];
}

function text(of: Json, name: string, pattern: RegExp): string {
  const value = of[name];
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed(`${name} has an unexpected value`);
  return value;
}

function readOperation(of: Json, place: number): BundledOperation {
  if (of['number'] !== place + 1) throw malformed('operations are not numbered from 1');
  return { number: place + 1, folder: text(of, 'folder', /^[^/]*$/), identity: text(of, 'identity', /./) };
}

function readFile(of: Json, count: number): BundledFile {
  const { operation } = of;
  const good = operation === undefined || (Number.isInteger(operation) && Number(operation) >= 1);
  if (!good || Number(operation ?? 0) > count) throw malformed('a file is of an operation that is not listed');
  return {
    path: text(of, 'path', /./),
    kind: text(of, 'kind', /./),
    operation: operation === undefined ? undefined : Number(operation),
    sha256: text(of, 'sha256', /^[0-9a-f]{64}$/),
  };
}

function unique(values: readonly string[], what: string): void {
  if (new Set(values).size !== values.length) throw malformed(`two ${what} are the same`);
}

/**
 * Reads an index.
 * @throws {VerificationError} `malformed`, also when it names an operation or a file twice or its numbers do not agree;
 * `unsupported` for another version
 */
export function readBundleIndex(bytes: Uint8Array): BundleIndex {
  const value = parseUnambiguousBytes(bytes) as Json | null;
  if (typeof value !== 'object' || value === null || value['format'] !== FORMAT)
    throw malformed('not a bundle’s index');
  if (value['version'] !== VERSION)
    throw new VerificationError(
      'unsupported',
      `${INDEX_PATH} has version ${JSON.stringify(value['version'])}, not ${VERSION}`,
    );
  const operations = records(value['operations'], 'operations').map(readOperation);
  if (value['operation_count'] !== operations.length)
    throw malformed(`it lists ${operations.length} operations and counts ${JSON.stringify(value['operation_count'])}`);
  const files = records(value['files'], 'files').map((file) => readFile(file, operations.length));
  unique(
    operations.map(({ folder }) => folder),
    'folders',
  );
  unique(
    operations.map(({ identity }) => identity),
    'identities',
  );
  unique(
    files.map(({ path }) => path),
    'paths',
  );
  return { operations, files };
}
