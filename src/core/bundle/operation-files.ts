import type { BundleFiles } from './bundle-index.js';
import { type BundleFileKind, OPERATION_FILES } from './bundle-layout.js';

/** A file of a bundle. */
export interface PlacedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** One operation's own files. */
export type OperationFiles = ReadonlyMap<BundleFileKind, PlacedFile>;

/** Returns the files that a bundle has in an operation's folder, empty for the top. */
export function filesOfOperation(files: BundleFiles, folder: string): OperationFiles {
  const prefix = folder === '' ? '' : `${folder}/`;
  return new Map(
    Object.entries(OPERATION_FILES).flatMap(([name, kind]): [BundleFileKind, PlacedFile][] => {
      const path = `${prefix}${name}`;
      return Object.hasOwn(files, path) ? [[kind, { path, bytes: files[path]! }]] : [];
    }),
  );
}
