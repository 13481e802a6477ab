import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { atIntervals } from '../at-intervals.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../logger.js';
import type { ServerCertificate } from './read-tls-files.js';

const LOOK_EVERY_MS = 60_000;

/** When a listener's own certificate expires, in milliseconds. */
export function expiryOf({ cert }: ServerCertificate): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

/**
 * Reads the files of a certificate once a minute until it is closed, and uses what they have when it has changed. Files
 * that do not fit each other, as while they are replaced, change nothing until they do. Logs once that the certificate in
 * use has expired.
 * @param first what is in use
 * @param read gives nothing if there are no files
 */
export function followCertificate<Certificate extends ServerCertificate>(parts: {
  readonly first: Certificate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
  read(): Promise<Certificate | undefined>;
  use(certificate: Certificate): void;
}): { close(): Promise<void> } {
  const { clock, logger } = parts;
  let used = parts.first;
  let told: Certificate | undefined;
  const tellExpired = (): void => {
    if (told === used || clock.now() < expiryOf(used)) return;
    told = used;
    logger.warn('the certificate in use has expired: replace its files, a restart is not needed');
  };
  tellExpired();
  return atIntervals(parts.everyMs ?? LOOK_EVERY_MS, async () => {
    try {
      const found = await parts.read();
      if (found === undefined || isDeepStrictEqual(found, used)) return;
      parts.use(found);
      used = found;
      logger.info('a renewed certificate is in use');
    } catch (err) {
      logger.warn({ err }, 'a certificate cannot be renewed: the earlier one stays in use, and this is retried');
    } finally {
      tellExpired();
    }
  });
}
