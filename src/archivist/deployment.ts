import type { LogRef } from '../ledger/log.js';

/** The fixed identifiers of one database: created by the bootstrap, never changed. */
export interface Deployment {
  /** Owns the service's keys and the private statement log. */
  readonly deploymentTenancy: string;
  /** Owns public forms, the public MMR log and the public statement log. */
  readonly publicTenancy: string;
  readonly publicStatementLog: string;
  readonly privateStatementLog: string;
  /** Key manifests; owned by the deployment's tenancy. */
  readonly keysLog: string;
}

/** The statement log of an event's statement: the public one for events of public assets. */
export function statementLog(deployment: Deployment, isPublic: boolean): LogRef {
  return isPublic
    ? { tenantId: deployment.publicTenancy, logId: deployment.publicStatementLog }
    : { tenantId: deployment.deploymentTenancy, logId: deployment.privateStatementLog };
}

/** The log whose entries are the key manifests. */
export function keysLog(deployment: Deployment): LogRef {
  return { tenantId: deployment.deploymentTenancy, logId: deployment.keysLog };
}
