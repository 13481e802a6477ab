import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Database } from '../../platform/postgres/database.js';
import { permits } from '../access/permits.js';
import { findTenancy, renameTenancy, type Tenancy } from './tenancy-store.js';

const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Body of `PATCH /archivist/v1/tenancies/self` (openapi facts: tenanciesv1). Single sign-on is not set up this way. */
export const changeTenancySchema = z.object({
  display_name: z
    .string()
    .min(1)
    .max(128)
    .refine((name) => !UNSTORABLE.test(name), 'must not contain U+0000 or a lone surrogate')
    .optional(),
  enterprise_sso_config: z.undefined('is not understood: this service has no single sign-on').optional(),
});

/** In an answer to anybody. */
export const publicTenancySchema = z.strictObject({ identity: z.string(), verified_domain: z.string() });

/** In an answer to its Owners. */
export const ownTenancySchema = publicTenancySchema.extend({
  display_name: z.string(),
  enterprise_sso_enabled: z.boolean(),
  enterprise_sso_config: z.strictObject({
    policy_id: z.string(),
    config_url: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    client_secret: z.string(),
  }),
});

/** What everybody may know of a tenancy whose id they have, from an event that names it. @throws {ApiError} not_found */
export async function readPublicTenancy(database: Database, tenantId: string): Promise<Record<string, unknown>> {
  const found = await database.inTransaction({ read: [tenantId], write: [] }, (tx) => findTenancy(tx, tenantId));
  if (!found) throw new ApiError('not_found', 'There is no such tenancy.');
  return { identity: tenancyIdentity(found), verified_domain: found.verifiedDomain };
}

/** The caller's own tenancy. @throws {ApiError} forbidden for who is no Owner */
export async function readOwnTenancy(database: Database, principal: Principal): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal);
  const found = await database.inTransaction({ read: [tenantId], write: [] }, (tx) => findTenancy(tx, tenantId));
  return ownTenancyResponse(found);
}

/** Changes what the body names. @throws {ApiError} forbidden for who is no Owner */
export async function changeOwnTenancy(
  database: Database,
  principal: Principal,
  change: z.output<typeof changeTenancySchema>,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const name = change.display_name;
  if (name === undefined) return readOwnTenancy(database, principal);
  requireManager(principal);
  const renamed = await database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) =>
    renameTenancy(tx, tenantId, name),
  );
  return ownTenancyResponse(renamed);
}

/** As every identity of a collection; the clients read neither this nor the `tenant/<uuid>` of the original's document. */
function tenancyIdentity({ tenantId }: Tenancy): string {
  return `tenancies/${tenantId}`;
}

function ownTenancyResponse(tenancy: Tenancy | undefined): Record<string, unknown> {
  if (!tenancy) throw new ApiError('unauthorized', 'The tenancy of this token does not exist.');
  return {
    identity: tenancyIdentity(tenancy),
    verified_domain: tenancy.verifiedDomain,
    display_name: tenancy.displayName,
    enterprise_sso_enabled: false,
    enterprise_sso_config: { policy_id: '', config_url: '', issuer: '', client_id: '', client_secret: '' },
  };
}

function requireManager(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'tenancy', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners see and change what a tenancy is set up with.');
}
