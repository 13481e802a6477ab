import type { Clock } from '../platform/clock.js';
import type { Ids } from '../platform/ids.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import type { PageTokens } from '../platform/postgres/page-token.js';
import type { Quotas } from '../platform/quotas.js';
import type { AcceptWriter } from './accept/accept-writer.js';
import type { Deployment } from './deployment.js';

/** What the provenance resources depend on. */
export interface ProvenanceDeps {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly writer: AcceptWriter;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly pageTokens: PageTokens;
  readonly publicUrl: string;
  readonly quotas: Quotas;
}

/** What one tenancy may read: its own rows, and public forms with their statements. */
export function readScope(deployment: Deployment, tenantId: string) {
  return { read: [tenantId, deployment.publicTenancy, deployment.deploymentTenancy], write: [] };
}
