import type { PastSharesDeps } from '../../iam/access/past-shares.js';
import { accessPolicyRoutes } from '../../iam/access-policies/access-policy-routes.js';
import type { AdministerDeps } from '../../iam/security/administer.js';
import { subjectRoutes } from '../../iam/subjects/subject-routes.js';
import type { Quotas } from '../../iam/tenancies/quotas.js';
import type { Clock } from '../../platform/clock.js';
import { type Feature, WORKER_ROLES } from '../../platform/feature.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import type { ListDeps } from '../read-scope.js';
import { keepShares } from './keep-shares.js';
import { assetPolicyRoutes, policyAssetRoutes } from './policy-asset-routes.js';
import { policyAuditWaker, startPolicyAuditJob } from './policy-audit-job.js';
import type { PolicyAuditDeps } from './record-policy-audit.js';

interface AccessBase extends ListDeps, AdministerDeps, Omit<PolicyAuditDeps, 'wallets' | 'clock' | 'ids'> {
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
  readonly quotas: Quotas;
}

/** Access policies and subjects, with the job that records changes of policies on the assets that they match. */
export function openAccess(base: AccessBase): Feature {
  const shares: PastSharesDeps = { keepShares: (tx, ended) => keepShares(tx, base, ended) };
  const policyChanged = policyAuditWaker(base);
  return {
    routes: {
      'iam/v1/access_policies': [
        ...accessPolicyRoutes({ ...base, ...shares, policyChanged }),
        ...policyAssetRoutes(base),
      ],
      'iam/v1/assets': assetPolicyRoutes(base),
      'iam/v1/subjects': subjectRoutes({ ...base, ...shares }),
    },
    jobs: [
      {
        roles: WORKER_ROLES,
        start: () => startPolicyAuditJob({ ...base, clock: base.rightClock, wallets: new Map() }),
      },
    ],
  };
}
