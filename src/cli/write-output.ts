import { access, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../core/evidence/usage-error.js';
import { replaceFile } from '../platform/durable-file.js';
import { failureReason } from '../platform/explain-failure.js';
import { ifThere } from '../platform/if-there.js';

/** What the umask leaves of it. */
const MODE = 0o666;
/** A file that is mounted alone has no name that another one can take, nor has a file in a folder that is read-only. */
const IN_PLACE: readonly unknown[] = ['EBUSY', 'EACCES', 'EPERM', 'EROFS'];

/**
 * Writes what a command has made into the file that the caller named. A crash or a full disk leaves the file that was there
 * before, or none, unless that file can only be written in place. @throws {UsageError} if it cannot be written
 */
export async function writeOutput(option: string, path: string, bytes: Uint8Array): Promise<void> {
  await write(path, bytes).catch((error: unknown) => {
    throw new UsageError(`${option} cannot be written: ${failureReason(error)}`);
  });
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  const there = await ifThere(stat(path));
  // A pipe or a terminal is written as it is.
  if (there && !there.isFile()) return writeFile(path, bytes);
  // A folder that is missing is a wrong name, and is not made.
  await access(dirname(path));
  if (!there) return replaceFile(path, bytes, MODE);
  await replaceFile(await realpath(path), bytes, there.mode & 0o777).catch((error: NodeJS.ErrnoException) => {
    if (!IN_PLACE.includes(error.code)) throw error;
    return writeFile(path, bytes);
  });
}
