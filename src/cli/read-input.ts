import { readFile } from 'node:fs/promises';
import { UsageError } from '../core/evidence/usage-error.js';

/** Reads a file that the user named. @throws {UsageError} */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
}
