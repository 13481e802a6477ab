import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RootTrust } from '../core/evidence/root-trust.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { type ReadKeyManifest, readKeyManifest } from '../core/keys/read-key-manifest.js';
import { makeFolder, replaceFile } from '../platform/durable-file.js';
import { failureReason } from '../platform/explain-failure.js';
import { checkNotBefore } from './seen-manifest.js';

const MODE = 0o644;
const FOLDER_MODE = 0o777;

/**
 * Remembers the newest key manifest in a folder, in one file for each keys log.
 * @throws {UsageError} when what the folder has of that log cannot be read, or nothing can be written there
 * @throws {VerificationError} `manifest_older` when a newer one was seen before; `manifest_invalid` when another one with
 *   the same number was, or one that these do not follow
 */
export async function rememberManifest(state: string, { history }: Pick<RootTrust, 'history'>): Promise<void> {
  const newest = history.at(-1)!;
  const { subject, number } = newest.manifest;
  const path = join(state, `${subject.replace(/[^A-Za-z0-9-]/g, '_')}.key-manifest`);
  const seen = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    // A file that is there and cannot be read may hold a newer manifest.
    if (error.code !== 'ENOENT') throw new UsageError(`--state: ${path} cannot be read: ${failureReason(error)}`);
    return undefined;
  });
  const before = seen && readSeen(new Uint8Array(seen), path);
  if (before) checkNotBefore(history, before);
  if (before?.manifest.number === number) return;
  try {
    await makeFolder(state, FOLDER_MODE);
    await replaceFile(path, newest.bytes, MODE);
  } catch (error) {
    throw new UsageError(`--state: ${path} cannot be written: ${failureReason(error)}`);
  }
}

function readSeen(bytes: Uint8Array, path: string): ReadKeyManifest {
  try {
    return readKeyManifest(bytes);
  } catch {
    throw new UsageError(`--state: ${path} cannot be read`);
  }
}
