import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import { plainText } from '../../platform/plain-text.js';
import type { Database } from '../../platform/postgres/database.js';
import { changeProvider } from '../identity-provider/change-provider.js';
import {
  enterpriseSsoResponse,
  enterpriseSsoSchema,
  type IdentityProvider,
} from '../identity-provider/identity-provider.js';
import { findProvider } from '../identity-provider/identity-provider-store.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { lockOwners } from '../security/owner-store.js';
import { requireOwner } from '../security/require-owner.js';
import { requireManager } from './require-manager.js';
import { findTenancy, renameTenancy, type Tenancy } from './tenancy-store.js';

export interface TenancyDeps extends AdministerDeps {
  /** Opens the client secrets at the providers. */
  readonly clientSecrets: SealedBox;
  /** Whether a provider may be in a private network. */
  readonly allowPrivate: boolean;
  readonly publicUrl: string;
}

/**
 * Body of `PATCH /archivist/v1/tenancies/self` (docs/design/interface.md#shapes): missing members stay unchanged. What
 * GET returned can be sent back with a change, so the members that cannot be changed may be there, as they are.
 */
export const changeTenancySchema = z.object({
  identity: z.string().max(128).optional(),
  verified_domain: z.string().max(1024).optional(),
  display_name: plainText(128).min(1).optional(),
  enterprise_sso_enabled: z.boolean().optional(),
  enterprise_sso_config: enterpriseSsoSchema.optional(),
});
type ChangeTenancyBody = z.output<typeof changeTenancySchema>;

const OWNERS = 'Only Owners may read and change the settings of a tenancy.';

/** In a response to anybody. */
export const publicTenancySchema = z.strictObject({ identity: z.string(), verified_domain: z.string() });

/** In a response to its Owners. */
export const ownTenancySchema = publicTenancySchema.extend({
  display_name: z.string(),
  enterprise_sso_enabled: z.boolean(),
  enterprise_sso_config: z.strictObject({
    policy_id: z.string(),
    config_url: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    client_secret: z.string(),
    audience: z.string(),
    claims: z.strictObject({
      email: z.string(),
      email_verified: z.string(),
      display_name: z.string(),
      groups: z.string(),
    }),
  }),
});

/** Public information about a tenancy, for callers that have its id from an event. @throws {ApiError} not_found */
export async function readPublicTenancy(database: Database, tenantId: string): Promise<Record<string, unknown>> {
  const found = await database.inTransaction({ read: [tenantId], write: [] }, (tx) => findTenancy(tx, tenantId));
  if (!found) throw new ApiError('not_found', 'There is no such tenancy.');
  return { identity: tenancyIdentity(found.tenantId), verified_domain: found.verifiedDomain };
}

/** The caller's own tenancy. @throws {ApiError} forbidden if the caller is not an Owner */
export async function readOwnTenancy(
  deps: Pick<TenancyDeps, 'database'>,
  principal: Principal,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, OWNERS);
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) =>
    ownTenancyResponse(await findTenancy(tx, tenantId), await findProvider(tx, tenantId)),
  );
}

/**
 * Changes what the body names: the name, and how people sign in. Changing the provider ends every session.
 * @throws {ApiError} forbidden if the caller is not an Owner, bad_request for invalid settings, conflict if no Owner could
 *   sign in then
 */
export async function changeOwnTenancy(
  deps: TenancyDeps,
  principal: Principal,
  change: ChangeTenancyBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const { display_name: name, enterprise_sso_config: config, enterprise_sso_enabled: enabled } = change;
  const act = { action: 'tenancy.change', resource: tenancyIdentity(tenantId) } as const;
  return administer(deps, principal, act, async (tx) => {
    requireUnchanged(change, await findTenancy(tx, tenantId));
    if (name !== undefined) await renameTenancy(tx, tenantId, name);
    const changesProvider = config !== undefined || enabled !== undefined;
    // A change keeps what it does not name: of two at once, the second must find what the first has saved.
    if (changesProvider) await lockOwners(tx, tenantId);
    const provider = changesProvider
      ? await changeProvider(tx, deps, tenantId, { config: config ?? {}, enabled })
      : await findProvider(tx, tenantId);
    if (changesProvider) await requireOwner(tx, tenantId);
    const details = {
      ...(name === undefined ? {} : { display_name: name }),
      ...(changesProvider && provider ? { issuer: provider.issuer, enabled: String(provider.enabled) } : {}),
    };
    return { result: ownTenancyResponse(await findTenancy(tx, tenantId), provider), details };
  });
}

/** @throws {ApiError} bad_request for another identity or domain than the tenancy has */
function requireUnchanged(change: ChangeTenancyBody, tenancy: Tenancy | undefined): void {
  if (!tenancy) return;
  const members = { identity: tenancyIdentity(tenancy.tenantId), verified_domain: tenancy.verifiedDomain } as const;
  for (const [name, value] of Object.entries(members) as [keyof typeof members, string][])
    if ((change[name] ?? value) !== value)
      throw new ApiError('bad_request', `${name}: cannot be changed: leave it out, or send it as it is`);
}

/**
 * In the form of every other identity; clients read neither this nor the `tenant/<uuid>` of the original's document.
 */
function tenancyIdentity(tenantId: string): string {
  return `tenancies/${tenantId}`;
}

function ownTenancyResponse(
  tenancy: Tenancy | undefined,
  provider: IdentityProvider | undefined,
): Record<string, unknown> {
  if (!tenancy) throw new ApiError('unauthorized', 'The tenancy of this token does not exist.');
  return {
    identity: tenancyIdentity(tenancy.tenantId),
    verified_domain: tenancy.verifiedDomain,
    display_name: tenancy.displayName,
    ...enterpriseSsoResponse(provider),
  };
}
