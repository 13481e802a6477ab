import { writeFile } from 'node:fs/promises';
import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';

/** Writes what a command has made into the file that the caller named. @throws {UsageError} if it cannot be written */
export async function writeOutput(option: string, path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(path, bytes).catch((error: unknown) => {
    throw new UsageError(`${option} cannot be written: ${failureReason(error)}`);
  });
}
