import type { PolicyAuditDeps } from '../archivist/assets/record-policy-audit.js';
import { clamavScanner, type Scanner } from '../platform/clamav.js';
import type { Config } from '../platform/config.js';
import { createOutboundFetch } from '../platform/http/outbound-fetch.js';
import type { Ids } from '../platform/ids.js';
import type { Keyring } from '../platform/keys/keyring.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { startAnchorJob } from '../workers/anchor-job.js';
import { startExpiringSecretsJob } from '../workers/expiring-secrets-job.js';
import { startPolicyAuditJob } from '../workers/policy-audit-job.js';
import { startPurgeIdempotencyJob } from '../workers/purge-idempotency-job.js';
import { startScanBlobsJob } from '../workers/scan-blobs-job.js';
import { startSweepUploadsJob } from '../workers/sweep-uploads-job.js';
import { startWebhookJob } from '../workers/webhook-job.js';
import { webhookSecrets } from './webhook-secrets.js';

interface BackgroundDeps extends Omit<PolicyAuditDeps, 'wallets'> {
  readonly ids: Ids;
  readonly logger: Logger;
  readonly objectStore: ObjectStore;
  readonly queues: QueueBackend;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly outside: OutsideCalls;
}

/**
 * Starts the work that no request waits for, as far as this process's role includes it. `begun` receives the closer of
 * each job.
 */
export async function startBackgroundJobs(
  config: Config,
  deps: BackgroundDeps,
  begun: (close: () => Promise<void>) => void,
): Promise<void> {
  const backend = deps.queues;
  // Not in a process that only serves the interface. If several processes run this, only one at a time does the work.
  if (config.role !== 'api') {
    const jobs = [
      await startPurgeIdempotencyJob({ ...deps, backend }),
      await startSweepUploadsJob({ ...deps, backend }),
      await startExpiringSecretsJob({ ...deps, backend }),
      await startAnchorJob({ ...deps, backend, pattern: config.anchorSchedule }),
    ];
    for (const job of jobs) begun(() => job.close());
  }
  if (config.role !== 'all' && config.role !== 'worker') return;
  const webhooks = await startWebhookJob({
    ...deps,
    backend,
    publicUrl: config.publicUrl,
    fetch: createOutboundFetch({ allowPrivate: config.privateIdentityProviders === 'allow' }),
    secrets: webhookSecrets(deps),
    setAside: deps.metrics.webhooksSetAside,
  });
  begun(() => webhooks.close());
  const audit = await startPolicyAuditJob({ ...deps, backend, wallets: new Map() });
  begun(() => audit.close());
  if (config.clamavUrl === undefined) return;
  const daemon = clamavScanner(config.clamavUrl);
  const scanner: Scanner = { scan: (content) => deps.outside.record('scanner', daemon.scan(content)) };
  const scan = await startScanBlobsJob({ ...deps, scanner, backend, pattern: config.blobScanSchedule });
  begun(() => scan.close());
}
