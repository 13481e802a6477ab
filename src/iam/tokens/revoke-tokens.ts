import type { Principal } from '../../platform/http/principal.js';
import { applicationIdentity } from '../applications/application.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { raiseEpoch } from './standing-store.js';

/**
 * Voids every token that a client of the tenancy holds, in all processes, from the commit on. Its secret stays: the next
 * token that it asks for is good. A client that was deleted is revoked just so, for its tokens outlive it.
 * @throws {ApiError} forbidden for who is no Owner
 */
export function revokeTokens(deps: AdministerDeps, principal: Principal, clientId: string): Promise<void> {
  const act = { action: 'token.revoke', resource: applicationIdentity(clientId) } as const;
  return administer(deps, principal, act, async (tx) => {
    await raiseEpoch(tx, { tenantId: principal.tenantId, clientId });
    return { result: undefined };
  });
}
