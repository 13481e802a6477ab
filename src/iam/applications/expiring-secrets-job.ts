import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { type ExpiryDeps, warnExpiringSecrets } from './warn-expiring-secrets.js';

const ONCE_A_DAY = '23 5 * * *';

/** Warns once a day about applications whose credentials expire soon. */
export function startExpiringSecretsJob(deps: ExpiryDeps & { readonly backend: QueueBackend }): Promise<ScheduledJob> {
  return startScheduledJob(deps, {
    name: 'credential-expiry',
    pattern: ONCE_A_DAY,
    run: async () => ({ expiring: await warnExpiringSecrets(deps) }),
  });
}
