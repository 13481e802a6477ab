import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Database } from '../../platform/postgres/database.js';
import { permits } from '../access/permits.js';
import { roomLeft } from './quota.js';
import type { QuotaName, Quotas } from './quotas.js';

/** What no quota limits. */
const NEVER_LIMITED = ['invites', 'members', 'users'] as const;

/**
 * Services of the original and of this one (docs/design/interface.md#tenancies-and-caps), with what each of them adds.
 */
export const CAPPED_SERVICES = {
  access_policies: ['access_policies'],
  applications: ['applications'],
  asset_free_events: ['asset_free_events'],
  assets: ['assets'],
  blobs: ['blobs', 'blob_bytes'],
  compliance_policies: ['compliance_policies'],
  events: ['events'],
  invites: ['invites'],
  locations: ['locations'],
  members: ['members'],
  tlscacertificates: ['tls_ca_certificates'],
  'tenancies/users': ['users'],
} as const satisfies Readonly<Record<string, readonly (QuotaName | (typeof NEVER_LIMITED)[number])[]>>;
export type CappedService = keyof typeof CAPPED_SERVICES;

/** What is left where nothing limits it: the largest number of the member's type. */
const UNLIMITED = String(2n ** 63n - 1n);

const count = z.string().meta({ format: 'int64' });

/** Caps in a response: numbers as decimal strings. */
export const capsSchema = z.strictObject({
  caps: z.array(
    z.strictObject({ resource_type: z.string(), resource_remaining: count, resource_cap: count.optional() }),
  ),
});

/**
 * How much the caller's tenancy may still add, as decimal strings. A resource without a quota has no `resource_cap`.
 * @throws {ApiError} forbidden
 */
export async function readCaps(
  deps: { readonly database: Database; readonly quotas: Quotas },
  principal: Principal,
  service: CappedService,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  if (!permits(principal, 'read', { kind: 'caps', tenantId }))
    throw new ApiError('forbidden', 'This identity may not read caps.');
  const caps: Record<string, string>[] = [];
  for (const name of CAPPED_SERVICES[service]) {
    const limit = isLimitable(name) ? deps.quotas[name] : undefined;
    const shown = { resource_type: resourceType(name) };
    if (limit === undefined || !isLimitable(name)) caps.push({ ...shown, resource_remaining: UNLIMITED });
    else {
      const remaining = String(await roomLeft(deps, tenantId, name));
      caps.push({ ...shown, resource_remaining: remaining, resource_cap: String(limit) });
    }
  }
  return { caps };
}

function isLimitable(name: QuotaName | (typeof NEVER_LIMITED)[number]): name is QuotaName {
  return !(NEVER_LIMITED as readonly string[]).includes(name);
}

/** `blob_bytes` becomes `BlobBytes`, in the style of the original's `AccessPolicies`. */
function resourceType(name: string): string {
  return name
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('');
}
