import { readFile } from 'node:fs/promises';
import { UsageError } from '../core/evidence/usage-error.js';

/** Reads a file that the user named. @throws {UsageError} */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file: check the path' : (code ?? 'unknown reason');
    throw new UsageError(`cannot read ${path}: ${reason}`);
  }
}
