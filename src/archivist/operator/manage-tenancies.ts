import { z } from 'zod';
import { OWNER_ROLE } from '../../iam/access/owner-and-creator.js';
import { createApplication } from '../../iam/applications/create-application.js';
import { lockOwners } from '../../iam/security/owner-store.js';
import { recordSecurityEvent } from '../../iam/security/record-security-event.js';
import { OPERATOR, type SecurityAct } from '../../iam/security/security-event.js';
import type { DisabledTenancies } from '../../iam/tenancies/disabled-tenancies.js';
import {
  findTenancy,
  listTenancyRows,
  setDisabled,
  setVerifiedDomain,
  type Tenancy,
} from '../../iam/tenancies/tenancy-store.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError, retryLater } from '../../platform/errors.js';
import type { Ids } from '../../platform/ids.js';
import { listKeyManifests, lockKeyManifests } from '../../platform/keys/manifest/key-manifest-store.js';
import { condition } from '../../platform/listing/condition.js';
import type { Logger } from '../../platform/logger.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { timestampSchema } from '../../platform/timestamps.js';
import { type BootstrapDeps, createTenancy } from '../bootstrap-deployment.js';
import type { IssueDeps } from '../keys/issue-manifest.js';

const TRY_AGAIN_SECONDS = 1;

export interface OperatorDeps extends Pick<IssueDeps, 'deployment' | 'manifests' | 'adoptNow'> {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly pepper: Uint8Array;
  readonly massifHeight: number;
  readonly createTenancyKeys: BootstrapDeps['createTenancyKeys'];
  readonly disabled: DisabledTenancies;
}

/** The operator's view of a tenancy: its record, without its content. */
export const tenancySchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  verified_domain: z.string(),
  created_at: timestampSchema,
  disabled_at: z.string(),
});

function tenancyRecord(tenancy: Tenancy): Record<string, unknown> {
  return {
    identity: `tenancies/${tenancy.tenantId}`,
    display_name: tenancy.displayName,
    verified_domain: tenancy.verifiedDomain,
    created_at: tenancy.createdAt.toISOString(),
    disabled_at: tenancy.disabledAt?.toISOString() ?? '',
  };
}

/**
 * Creates a tenancy with its first Owner, an application whose secret is returned only here.
 * @throws {ApiError} unavailable if the keys of the deployment are changed at this moment
 */
export async function openTenancy(
  deps: Omit<OperatorDeps, 'disabled'>,
  wanted: { displayName: string; verifiedDomain: string },
): Promise<Record<string, unknown>> {
  const tenantId = deps.ids.uuid();
  await deps.adoptNow();
  // Whose keys this process has: the newest manifest may be one that it is still adopting.
  const adopted = deps.manifests.current.manifest.number;
  return deps.database.inTransaction('system', async (tx) => {
    await keepIssuerKey(tx, deps, adopted);
    await createTenancy(tx, deps, { tenantId, kind: 'organisation', displayName: wanted.displayName });
    await setVerifiedDomain(tx, tenantId, wanted.verifiedDomain);
    const { application, clientSecret } = await createApplication(tx, deps, {
      tenantId,
      displayName: 'First owner',
      roles: [OWNER_ROLE],
    });
    await record(tx, deps, tenantId, 'tenancy.create');
    const made = await findTenancy(tx, tenantId);
    return { ...tenancyRecord(made!), client_id: application.applicationId, client_secret: clientSecret };
  });
}

/**
 * Lets no key manifest be made until the transaction ends. If the issuer key was stolen, what it has certified is certified
 * again when its manifest has been made: that must find the tenancy, or the tenancy must find the new key.
 */
async function keepIssuerKey(tx: Tx, { deployment }: Pick<OperatorDeps, 'deployment'>, adopted: number): Promise<void> {
  await lockKeyManifests(tx);
  const newer = await listKeyManifests(tx, deployment.deploymentTenancy, BigInt(adopted) + 1n, 1);
  if (newer.length > 0)
    throw retryLater('unavailable', 'The keys of the service are being changed: try again.', TRY_AGAIN_SECONDS);
}

/** The organisations of this deployment, oldest first, after the one with this UUID. */
export async function listTenancies(
  deps: OperatorDeps,
  after: string | undefined,
  limit: number,
): Promise<Record<string, unknown>[]> {
  const conditions = [
    condition(`t.kind = 'organisation'`),
    ...(after === undefined ? [] : [condition('t.tenant_id > ?', after)]),
  ];
  const tenancies = await deps.database.inTransaction('system', (tx) => listTenancyRows(tx, conditions, limit));
  return tenancies.map(tenancyRecord);
}

/**
 * Disables or enables a tenancy. While it is disabled, it gets no new tokens, and its tokens and sessions are rejected:
 * at once in this process, within about a second in others. Its data is unchanged.
 * @throws {ApiError} not_found
 */
export async function shutTenancy(
  deps: OperatorDeps,
  tenantId: string,
  shut: boolean,
): Promise<Record<string, unknown>> {
  const changed = await deps.database.inTransaction('system', async (tx) => {
    // Of two at once, the second must find what the first has done, or the audit has it twice.
    await lockOwners(tx, tenantId);
    const tenancy = await requireOrganisation(tx, tenantId);
    if ((tenancy.disabledAt !== null) === shut) return tenancy;
    await setDisabled(tx, tenantId, shut ? new Date(deps.clock.now()) : undefined);
    await record(tx, deps, tenantId, shut ? 'tenancy.disable' : 'tenancy.enable');
    return requireOrganisation(tx, tenantId);
  });
  await deps.disabled.refresh();
  return tenancyRecord(changed);
}

/** Records the domain that the operator has verified; it is public. @throws {ApiError} not_found */
export function verifyDomain(deps: OperatorDeps, tenantId: string, domain: string): Promise<Record<string, unknown>> {
  return deps.database.inTransaction('system', async (tx) => {
    await requireOrganisation(tx, tenantId);
    await setVerifiedDomain(tx, tenantId, domain);
    await record(tx, deps, tenantId, 'tenancy.verify_domain', { verified_domain: domain });
    return tenancyRecord((await findTenancy(tx, tenantId))!);
  });
}

async function requireOrganisation(tx: Tx, tenantId: string): Promise<Tenancy> {
  const tenancy = await findTenancy(tx, tenantId);
  if (tenancy?.kind === 'organisation') return tenancy;
  throw new ApiError('not_found', 'There is no such tenancy.');
}

function record(
  tx: Tx,
  deps: Pick<OperatorDeps, 'clock' | 'ids' | 'logger'>,
  tenantId: string,
  action: SecurityAct['action'],
  details: NonNullable<SecurityAct['details']> = {},
): Promise<void> {
  return recordSecurityEvent(tx, deps, {
    tenantId,
    actor: OPERATOR,
    action,
    resource: `tenancies/${tenantId}`,
    details,
  });
}
