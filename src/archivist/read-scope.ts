import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import { KEPT_PLANS } from '../platform/postgres/kept-plans.js';
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
  readonly logger: Logger;
}

/** What one tenancy may read: its own rows, and public forms with their statements. Lists are planned for their values. */
export function readScope(deployment: Deployment, tenantId: string) {
  return { read: [tenantId, deployment.publicTenancy, deployment.deploymentTenancy], write: [] };
}

/** The same, to read one thing by its id. */
export function readByIdScope(deployment: Deployment, tenantId: string) {
  return { ...readScope(deployment, tenantId), settings: KEPT_PLANS };
}

/** Public forms only, to read one thing by its id. */
export function publicByIdScope({ publicTenancy }: Pick<Deployment, 'publicTenancy'>) {
  return { read: [publicTenancy], write: [], settings: KEPT_PLANS };
}
