import { tenancyLog } from '../../ledger/log.js';
import { type Deployment, statementLog } from '../deployment.js';
import type { Submission } from './submission.js';

/**
 * Whether a registration is for a halted log. Known before planning, because planning a registration can create the
 * tenancy's asset for statements.
 */
export function registersInHaltedLog(
  submission: Submission,
  { deployment, halted }: { readonly deployment: Deployment; readonly halted: (logId: string) => boolean },
): boolean {
  if (submission.kind !== 'registration') return false;
  const logs = [tenancyLog(submission.principal.tenantId), statementLog(deployment, submission.public)];
  if (submission.public) logs.push(tenancyLog(deployment.publicTenancy));
  return logs.some(({ logId }) => halted(logId));
}
