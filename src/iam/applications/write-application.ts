import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { lockOwners } from '../security/owner-store.js';
import { requireOwner } from '../security/require-owner.js';
import { requireRoom } from '../tenancies/quota.js';
import type { Quotas } from '../tenancies/quotas.js';
import {
  type Application,
  applicationIdentity,
  applicationResponse,
  type ChangeApplicationBody,
  type CreateApplicationBody,
} from './application.js';
import {
  deleteApplicationRow,
  deleteCredentials,
  findApplication,
  findValidities,
  updateApplication,
} from './application-store.js';
import { addSecret, createApplication } from './create-application.js';
import { raiseEpoch } from './standing-store.js';

export interface ApplicationDeps extends AdministerDeps {
  readonly quotas: Quotas;
  readonly pepper: Uint8Array;
}

/** Registers an application; only this response has its secret. @throws {ApiError} forbidden, quota_reached */
export function registerApplication(
  deps: ApplicationDeps,
  principal: Principal,
  body: CreateApplicationBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const act = { action: 'application.create', resource: 'applications' } as const;
  return administer(deps, principal, act, async (tx) => {
    if (body.roles) await lockOwners(tx, tenantId);
    await requireRoom(tx, deps.quotas, tenantId, 'applications');
    const { application, credential, clientSecret } = await createApplication(tx, deps, {
      tenantId,
      displayName: body.display_name,
      roles: body.roles ?? [],
      customClaims: body.custom_claims ?? {},
    });
    return {
      result: applicationResponse(application, [credential], clientSecret),
      resource: applicationIdentity(application.applicationId),
      details: detailsOf(application),
    };
  });
}

/** Changes the fields that the body names. @throws {ApiError} forbidden, not_found, conflict */
export function changeApplication(
  deps: ApplicationDeps,
  principal: Principal,
  applicationId: string,
  body: ChangeApplicationBody,
): Promise<Record<string, unknown>> {
  const address = { tenantId: principal.tenantId, applicationId };
  const act = { action: 'application.change', resource: applicationIdentity(applicationId) } as const;
  return administer(deps, principal, act, async (tx) => {
    // A request that replaces the Owners at this moment finds the new one, or has removed this caller.
    if (body.roles) await lockOwners(tx, address.tenantId);
    const changed = await updateApplication(tx, address, {
      displayName: body.display_name ?? undefined,
      customClaims: body.custom_claims ?? undefined,
      roles: body.roles ?? undefined,
    });
    if (!changed) throw noSuchApplication();
    await requireOwnerLeft(tx, principal, applicationId);
    const credentials = await findValidities(tx, address.tenantId, [applicationId]);
    return { result: applicationResponse(changed, credentials), details: detailsOf(changed) };
  });
}

/**
 * Replaces the secret: the old one is invalid as soon as this commits. Tokens that were issued for it stay valid until
 * they expire (docs/design/interface.md#existing-clients). @throws {ApiError} forbidden, not_found
 */
export function regenerateSecret(
  deps: ApplicationDeps,
  principal: Principal,
  applicationId: string,
): Promise<Record<string, unknown>> {
  const address = { tenantId: principal.tenantId, applicationId };
  const act = { action: 'application.regenerate_secret', resource: applicationIdentity(applicationId) } as const;
  return administer(deps, principal, act, async (tx) => {
    // Of two at once, the second must find the secret of the first, to delete it.
    const application = await findApplication(tx, address, 'locked');
    if (!application) throw noSuchApplication();
    await deleteCredentials(tx, address);
    const { credential, clientSecret } = await addSecret(tx, deps, address);
    return {
      result: applicationResponse(application, [credential], clientSecret),
      details: { display_name: application.displayName },
    };
  });
}

/** Deletes an application, and revokes every token that it holds. @throws {ApiError} forbidden, not_found, conflict */
export function deleteApplication(deps: ApplicationDeps, principal: Principal, applicationId: string): Promise<void> {
  const act = { action: 'application.delete', resource: applicationIdentity(applicationId) } as const;
  return administer(deps, principal, act, async (tx) => {
    const deleted = await deleteApplicationRow(tx, { tenantId: principal.tenantId, applicationId });
    if (!deleted) throw noSuchApplication();
    await requireOwnerLeft(tx, principal, applicationId);
    await raiseEpoch(tx, { tenantId: principal.tenantId, clientId: applicationId });
    return { result: undefined, details: detailsOf(deleted) };
  });
}

/**
 * Changing another application cannot remove the last Owner, because the caller is an Owner until this commits; only
 * changing its own can.
 */
async function requireOwnerLeft(tx: Tx, principal: Principal, applicationId: string): Promise<void> {
  if (applicationId === principal.subject) await requireOwner(tx, principal.tenantId);
}

export function noSuchApplication(): ApiError {
  return new ApiError('not_found', 'There is no such application.');
}

function detailsOf({ displayName, roles, customClaims }: Application) {
  const claims = Object.entries(customClaims).map(([name, value]) => `${name}=${value}`);
  return { display_name: displayName, roles, custom_claims: claims };
}
