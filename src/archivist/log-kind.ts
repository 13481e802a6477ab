import type { LogRef } from '../ledger/log.js';
import type { Deployment } from './deployment.js';

/** The purpose of a log. The last one exists only if its profile is enabled. */
export type LogKind =
  | 'tenancy'
  | 'public events'
  | 'public statements'
  | 'private statements'
  | 'key manifests'
  | 'payload hashes';

/** Returns the purpose of a log of the deployment. */
export function logKind(deployment: Deployment, { tenantId, logId }: LogRef): LogKind {
  if (logId === deployment.publicStatementLog) return 'public statements';
  if (logId === deployment.privateStatementLog) return 'private statements';
  if (logId === deployment.keysLog) return 'key manifests';
  if (logId === deployment.publicTenancy) return 'public events';
  return tenantId === logId ? 'tenancy' : 'payload hashes';
}
