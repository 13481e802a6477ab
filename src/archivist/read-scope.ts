import type { Database } from '../platform/postgres/database.js';
import type { PageTokens } from '../platform/postgres/page-token.js';
import type { Deployment } from './deployment.js';

/** What reading in the scope of a tenancy depends on. */
export interface ReadDeps {
  readonly database: Database;
  readonly deployment: Deployment;
}

/** What reading whole lists depends on, page by page. */
export interface ListDeps extends ReadDeps {
  readonly pageTokens: PageTokens;
}

/** What one tenancy may read: its own rows, and public forms with their statements. */
export function readScope(deployment: Deployment, tenantId: string) {
  return { read: [tenantId, deployment.publicTenancy, deployment.deploymentTenancy], write: [] };
}
