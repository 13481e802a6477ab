import { isDeepStrictEqual } from 'node:util';
import { atIntervals } from '../at-intervals.js';
import type { Logger } from '../logger.js';

const LOOK_EVERY_MS = 60_000;

/**
 * Reads the files of a certificate once a minute until it is closed, and uses what they have when it has changed. Files
 * that do not fit each other, as while they are replaced, change nothing until they do.
 * @param first what is in use
 * @param read gives nothing if there are no files
 */
export function followCertificate<Certificate extends object>(parts: {
  readonly first: Certificate;
  readonly logger: Logger;
  readonly everyMs?: number;
  read(): Promise<Certificate | undefined>;
  use(certificate: Certificate): void;
}): { close(): Promise<void> } {
  let used = parts.first;
  return atIntervals(parts.everyMs ?? LOOK_EVERY_MS, async () => {
    try {
      const found = await parts.read();
      if (found === undefined || isDeepStrictEqual(found, used)) return;
      parts.use(found);
      used = found;
      parts.logger.info('a renewed certificate is in use');
    } catch (err) {
      parts.logger.warn({ err }, 'a certificate cannot be renewed: the earlier one stays in use, and this is retried');
    }
  });
}
