import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';

const MISSING: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * What a reading of this path finds; undefined if there is no such file or folder.
 * @throws {UsageError} if it cannot be read, for example because of its rights or of a failing disk: it may be there, and sound
 */
export async function foundAt<Found>(path: string, reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw new UsageError(`${path} cannot be read: ${failureReason(error)}`);
  }
}
