import { lstat } from 'node:fs/promises';
import { UsageError } from '../core/evidence/usage-error.js';
import { readInput } from './read-input.js';

/**
 * Reads a file of a folder that somebody else may have made: a link in it may lead anywhere, and a pipe or a device has no
 * end. A path that a person gives is theirs to choose, and `readInput` reads it.
 * @throws {UsageError} when it is no regular file, or cannot be read
 */
export async function readRegularFile(path: string): Promise<Uint8Array> {
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isFile()) throw new UsageError(`${path} is not a file`);
  return readInput(path);
}
