import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { applicationIdentity } from './application.js';
import { isKnownClient, raiseEpoch } from './standing-store.js';

/**
 * Revokes every token that an application of the tenancy holds, in all processes, as soon as this commits. Its secret
 * stays valid, and so do tokens that it gets later. For a deleted application, whose tokens ended with it, this changes
 * nothing.
 * @throws {ApiError} forbidden unless the caller is an Owner, not_found
 */
export function revokeTokens(deps: AdministerDeps, principal: Principal, clientId: string): Promise<void> {
  const act = { action: 'token.revoke', resource: applicationIdentity(clientId) } as const;
  return administer(deps, principal, act, async (tx) => {
    const client = { tenantId: principal.tenantId, clientId };
    if (!(await isKnownClient(tx, client))) throw new ApiError('not_found', 'There is no such application.');
    await raiseEpoch(tx, client);
    return { result: undefined };
  });
}
