import { clamavScanner, type Scanner } from '../../platform/clamav.js';
import type { Clock } from '../../platform/clock.js';
import { type BackgroundJob, type Feature, HOUSEKEEPING_ROLES, WORKER_ROLES } from '../../platform/feature.js';
import type { Logger } from '../../platform/logger.js';
import type { OutsideCalls } from '../../platform/outside-calls.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import type { BlobConfig } from '../blobs/blob-config.js';
import { blobRoutes } from '../blobs/blob-routes.js';
import { startScanBlobsJob } from '../blobs/scan-blobs-job.js';
import { startSweepUploadsJob } from '../blobs/sweep-uploads-job.js';
import { attachmentRoutes } from './attachment-routes.js';
import type { AttachmentDeps } from './read-attachment.js';

interface BlobBase extends Omit<AttachmentDeps, 'blobLimit'> {
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly logger: Logger;
  readonly backend: QueueBackend;
  readonly outside: OutsideCalls;
}

/** Blobs and the attachments that name them, with the jobs that remove unfinished uploads and scan content. */
export function openBlobs(base: BlobBase, settings: BlobConfig): Feature {
  const deps = { ...base, blobLimit: settings.limit };
  const attachments = attachmentRoutes(deps);
  const sweep: BackgroundJob = {
    roles: HOUSEKEEPING_ROLES,
    start: () => startSweepUploadsJob({ ...base, clock: base.rightClock }),
  };
  return {
    routes: {
      'v1/blobs': blobRoutes(deps),
      'v2/attachments/assets': attachments.filter(({ access }) => access === 'token'),
      'v2/attachments/publicassets': attachments.filter(({ access }) => access === 'public'),
    },
    jobs: [sweep, ...scanning(base, settings)],
  };
}

function scanning(base: BlobBase, { clamavUrl, scanSchedule }: BlobConfig): BackgroundJob[] {
  if (clamavUrl === undefined) return [];
  const daemon = clamavScanner(clamavUrl);
  const scanner: Scanner = { scan: (content) => base.outside.record('scanner', daemon.scan(content)) };
  const start = () => startScanBlobsJob({ ...base, clock: base.rightClock, scanner, pattern: scanSchedule });
  return [{ roles: WORKER_ROLES, start }];
}
