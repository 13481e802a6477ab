import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleFiles } from '../core/bundle/bundle-index.js';
import { type EvidenceFile, type EvidenceFolder, evidenceFile } from '../core/evidence/evidence-file.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { isBundleFolder, readBundleFolder } from './bundle-folder.js';
import { readInput } from './read-input.js';
import { readRegularFile } from './read-regular-file.js';
import { findReplica } from './replica-folder.js';

/** Reads a file, or says what a folder is: an unpacked bundle, or the replica of logs. @throws {UsageError} */
export async function readEvidence(path: string): Promise<EvidenceFile> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return evidenceFile(path, await readInput(path), mediaTypeOf);
  const kind = (await isBundleFolder(path)) ? 'bundle' : 'folder';
  return {
    path,
    kind,
    takenFor: kind,
    bytes: new Uint8Array(),
    folder: kind === 'bundle' ? bundleFolder(path) : replicaFolder(path),
  };
}

/** Names in a bundle are not always paths in the folder: that may be the parent of the bundle's own. */
function bundleFolder(path: string): EvidenceFolder {
  let read: Promise<BundleFiles> | undefined;
  const files = () => (read ??= readBundleFolder(path));
  const file = async (name: string) => (await files())[name];
  return { ...replicaFolder(path), files, file: (name) => file(name).catch(ignoreUnreadable) };
}

function replicaFolder(path: string): EvidenceFolder {
  return {
    file: (name) => readRegularFile(join(path, name)).catch(ignoreUnreadable),
    files: () => readBundleFolder(path),
    replica: () => findReplica(path),
  };
}

function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof UsageError)) throw error;
}

async function mediaTypeOf(bytes: Uint8Array): Promise<string | undefined> {
  // Loaded only for a file that is nothing that we know: its tables are large.
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime;
}
