import { UsageError } from '../core/evidence/usage-error.js';
import { LogUnreachable, requireFile } from './monitor/fetch-file.js';

/** Reads a file that a service publishes at a URL. @throws {UsageError} if the service does not answer */
export function readPublished(url: string): Promise<Uint8Array> {
  return requireFile(url).catch((error: unknown) => {
    throw error instanceof LogUnreachable ? new UsageError(error.message) : error;
  });
}
