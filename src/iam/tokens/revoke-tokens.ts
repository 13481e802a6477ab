import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { applicationIdentity } from '../applications/application.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { isKnownClient, raiseEpoch } from './standing-store.js';

/**
 * Voids every token that an application of the tenancy holds, in all processes, from the commit on. Its secret stays valid,
 * and so does the next token that it gets. The tokens of a deleted application outlive it and are revoked likewise.
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
