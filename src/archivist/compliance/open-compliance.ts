import type { ActTurns } from '../../iam/security/act-turns.js';
import type { Quotas } from '../../iam/tenancies/quotas.js';
import type { Clock } from '../../platform/clock.js';
import { type Feature, WORKER_ROLES } from '../../platform/feature.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import type { CheckComplianceDeps } from './check-asset-compliance.js';
import { startComplianceJob } from './compliance-job.js';
import { complianceAssetRoutes, compliancePolicyRoutes } from './compliance-routes.js';
import type { WatchComplianceDeps } from './watch-compliance.js';

interface ComplianceBase extends CheckComplianceDeps, WatchComplianceDeps {
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
  readonly actTurns: ActTurns;
  readonly quotas: Quotas;
}

/** Compliance policies and the verdicts over assets, with the job that tells webhooks of changed verdicts. */
export function openCompliance(base: ComplianceBase): Feature {
  return {
    routes: {
      'v1/compliance_policies': compliancePolicyRoutes(base),
      'v1/compliance/assets': complianceAssetRoutes(base),
    },
    jobs: [{ roles: WORKER_ROLES, start: () => startComplianceJob({ ...base, clock: base.rightClock }) }],
  };
}
