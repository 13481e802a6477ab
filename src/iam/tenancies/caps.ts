import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Database } from '../../platform/postgres/database.js';
import { permits } from '../access/permits.js';
import { roomLeft } from './quota.js';
import type { QuotaName, Quotas } from './quotas.js';

/**
 * Services of the original and of this one (docs/design/interface.md#existing-clients), with the quotas that limit
 * them.
 */
export const CAPPED_SERVICES = {
  access_policies: ['access_policies'],
  applications: ['applications'],
  asset_free_events: ['asset_free_events'],
  assets: ['assets'],
  blobs: ['blobs', 'blob_bytes'],
  compliance_policies: ['compliance_policies'],
  events: ['events'],
  invites: [],
  locations: ['locations'],
  members: [],
  tlscacertificates: ['tls_ca_certificates'],
  'tenancies/users': [],
} as const satisfies Readonly<Record<string, readonly QuotaName[]>>;
export type CappedService = keyof typeof CAPPED_SERVICES;

const count = z.string().meta({ format: 'int64' });

/** Caps in a response: numbers as decimal strings. */
export const capsSchema = z.strictObject({
  caps: z.array(z.strictObject({ resource_type: z.string(), resource_remaining: count, resource_cap: count })),
});

/**
 * How much the caller's tenancy may still add, as decimal strings. Resources without a quota are not in the list.
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
  for (const name of CAPPED_SERVICES[service] as readonly QuotaName[]) {
    const limit = deps.quotas[name];
    if (limit === undefined) continue;
    const remaining = String(await roomLeft(deps, tenantId, name));
    caps.push({ resource_type: resourceType(name), resource_remaining: remaining, resource_cap: String(limit) });
  }
  return { caps };
}

/** `blob_bytes` becomes `BlobBytes`, in the style of the original's `AccessPolicies`. */
function resourceType(name: QuotaName): string {
  return name
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('');
}
