import type { LogRef } from '../ledger/log.js';
import type { Deployment } from './deployment.js';

/** What a log is for; the last one exists only if its profile is enabled. */
export type LogKind =
  | 'tenancy'
  | 'public events'
  | 'public statements'
  | 'private statements'
  | 'key manifests'
  | 'payload hashes';

/** Tells what a log of the deployment is for. */
export function logKind(deployment: Deployment, { tenantId, logId }: LogRef): LogKind {
  if (logId === deployment.publicStatementLog) return 'public statements';
  if (logId === deployment.privateStatementLog) return 'private statements';
  if (logId === deployment.keysLog) return 'key manifests';
  if (logId === deployment.publicTenancy) return 'public events';
  return tenantId === logId ? 'tenancy' : 'payload hashes';
}
