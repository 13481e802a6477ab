import { z } from 'zod';
import { clamavUrl, countOf, cronPattern } from '../../platform/config-values.js';

/** How large blobs may be, and what scans them. */
export interface BlobConfig {
  /** `BLOB_LIMIT`, default 536870912 (512 MiB): maximum size of a blob in bytes. */
  readonly limit: number;
  /**
   * `CLAMAV_URL`, the socket of a ClamAV daemon that scans blobs: `tcp://host:port`, or its path. Unset, blobs stay
   * NOT_SCANNED. Set the daemon's StreamMaxLength, MaxFileSize and MaxScanSize to at least BLOB_LIMIT and turn
   * AlertExceedsMax on; otherwise it reports content beyond its limits as clean.
   */
  readonly clamavUrl: string | undefined;
  /** `BLOB_SCAN_SCHEDULE`, default `0 3 * * *`: when blobs are scanned, as a cron pattern in UTC. */
  readonly scanSchedule: string;
}

/** The blobs' part of the environment. */
export const blobVariables = {
  BLOB_LIMIT: countOf('bytes', 15).default(512 * 1024 * 1024),
  CLAMAV_URL: clamavUrl.optional(),
  BLOB_SCAN_SCHEDULE: cronPattern.default('0 3 * * *'),
};

const schema = z.object(blobVariables);

export function blobConfig(env: z.output<typeof schema>): BlobConfig {
  return Object.freeze({ limit: env.BLOB_LIMIT, clamavUrl: env.CLAMAV_URL, scanSchedule: env.BLOB_SCAN_SCHEDULE });
}
