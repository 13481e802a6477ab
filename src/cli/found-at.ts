import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';

const MISSING: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * What a reading of this path finds; undefined if there is no such file or folder. @throws {UsageError} if the system refuses
 * to read it, as for want of rights or on a disk that fails: it may be there, and sound
 */
export async function foundAt<Found>(path: string, reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw new UsageError(`${path} cannot be read: ${failureReason(error)}`);
  }
}
