import { OWNER_ROLE } from '../iam/access/owner-and-creator.js';
import { createApplication } from '../iam/applications/create-application.js';
import { selfSubject } from '../iam/subjects/self-subject.js';
import { insertSubject } from '../iam/subjects/subject-store.js';
import { insertTenancy } from '../iam/tenancies/tenancy-store.js';
import { tenancyLog } from '../ledger/log.js';
import { createLog } from '../ledger/log-store.js';
import type { Clock } from '../platform/clock.js';
import type { Ids } from '../platform/ids.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { Tx } from '../platform/postgres/database.js';
import { type Deployment, keysLog } from './deployment.js';
import { findDeployment, insertDeployment, lockBootstrap } from './deployment-store.js';

const PLUGIN_NAME = 'Conserver plugin';

/** The credentials of the first Owner of a new deployment: shown once, stored nowhere else. */
export interface FirstOwner {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tenantId: string;
}

export interface BootstrapDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pepper: Uint8Array;
  readonly massifHeight: number;
  /** Creates the service's own keys. */
  createDeploymentKeys(tx: Tx, deploymentTenancy: string): Promise<void>;
  /** Creates a tenancy's keys and resolves with its wallet's address. */
  createTenancyKeys(tx: Tx, tenantId: string): Promise<string>;
  /** Credentials to use instead of new ones. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** Credentials of a second application, without roles, for a conserver plugin. */
  readonly plugin: { readonly clientId: string; readonly clientSecret: string } | undefined;
}

/**
 * Creates what every deployment starts with, exactly once per database even if several processes start together: its
 * own and the public tenancy, their logs, a first organisation and its Owner application. An existing deployment is
 * left unchanged.
 */
export async function bootstrapDeployment(
  tx: Tx,
  deps: BootstrapDeps,
): Promise<{ deployment: Deployment; firstOwner?: FirstOwner }> {
  await lockBootstrap(tx);
  const existing = await findDeployment(tx);
  if (existing) return { deployment: existing };
  const createdAt = new Date(deps.clock.now());
  const deployment: Deployment = {
    deploymentTenancy: deps.ids.uuid(),
    publicTenancy: deps.ids.uuid(),
    publicStatementLog: deps.ids.uuid(),
    privateStatementLog: deps.ids.uuid(),
    keysLog: deps.ids.uuid(),
  };
  await insertDeployment(tx, deployment, createdAt);
  await deps.createDeploymentKeys(tx, deployment.deploymentTenancy);
  await createTenancy(tx, deps, {
    tenantId: deployment.deploymentTenancy,
    kind: 'deployment',
    displayName: 'Archivist',
  });
  await createTenancy(tx, deps, { tenantId: deployment.publicTenancy, kind: 'public', displayName: 'Public' });
  const statementLogs = [
    { tenantId: deployment.publicTenancy, logId: deployment.publicStatementLog },
    { tenantId: deployment.deploymentTenancy, logId: deployment.privateStatementLog },
    keysLog(deployment),
  ];
  for (const log of statementLogs) {
    const structure = 'RFC9162_SHA256' as const;
    await createLog(tx, { ...log, structure, name: `log/${log.logId}`, massifHeight: deps.massifHeight, createdAt });
  }
  const tenantId = deps.ids.uuid();
  await createTenancy(tx, deps, { tenantId, kind: 'organisation', displayName: 'First tenancy' });
  const { clientId, clientSecret } = deps;
  const { application, clientSecret: secret } = await createApplication(tx, deps, {
    tenantId,
    displayName: 'First owner',
    roles: [OWNER_ROLE],
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
  });
  if (deps.plugin) await createApplication(tx, deps, { tenantId, displayName: PLUGIN_NAME, roles: [], ...deps.plugin });
  return { deployment, firstOwner: { clientId: application.applicationId, clientSecret: secret, tenantId } };
}

/**
 * Creates a tenancy, its wallet (held by the subject Self) and its MMR log. The deployment's own tenancy gets no MMR
 * log.
 */
export async function createTenancy(
  tx: Tx,
  deps: Pick<BootstrapDeps, 'clock' | 'massifHeight' | 'createTenancyKeys'>,
  tenancy: { tenantId: string; kind: 'organisation' | 'public' | 'deployment'; displayName: string },
): Promise<void> {
  const createdAt = new Date(deps.clock.now());
  const walletAddress = await deps.createTenancyKeys(tx, tenancy.tenantId);
  await insertTenancy(tx, { ...tenancy, verifiedDomain: '', walletAddress, createdAt });
  await insertSubject(tx, selfSubject(tenancy.tenantId, await listSigningKeys(tx, tenancy.tenantId), createdAt));
  if (tenancy.kind === 'deployment') return;
  const name = `tenant/${tenancy.tenantId}`;
  const log = tenancyLog(tenancy.tenantId);
  await createLog(tx, { ...log, structure: 'MMR_SHA256', name, massifHeight: deps.massifHeight, createdAt });
}
