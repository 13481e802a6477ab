import type { Clock } from '../../platform/clock.js';
import { type Feature, HOUSEKEEPING_ROLES } from '../../platform/feature.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ApplicationRouteDeps, applicationRoutes } from './application-routes.js';
import { startExpiringSecretsJob } from './expiring-secrets-job.js';
import { revocationRoutes } from './revocation-routes.js';
import type { ExpiryDeps } from './warn-expiring-secrets.js';

interface ApplicationBase extends Omit<ApplicationRouteDeps, 'pepper'>, ExpiryDeps {
  readonly keyring: Pick<ApplicationRouteDeps, 'pepper'>;
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
}

/** Applications and their secrets, with the job that warns before secrets expire. */
export function openApplications(base: ApplicationBase): Feature {
  const { pepper } = base.keyring;
  return {
    routes: {
      'iam/v1/applications': [...applicationRoutes({ ...base, pepper }), ...revocationRoutes(base)],
    },
    jobs: [{ roles: HOUSEKEEPING_ROLES, start: () => startExpiringSecretsJob({ ...base, clock: base.rightClock }) }],
  };
}
