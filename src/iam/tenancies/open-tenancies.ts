import type { Feature } from '../../platform/feature.js';
import { capRoutes } from './cap-routes.js';
import type { Quotas } from './quotas.js';
import { tenancyRoutes } from './tenancy-routes.js';
import type { TenancyDeps } from './tenancy-self.js';

/** Tenancies, and what their quotas leave them. */
export function openTenancies(base: TenancyDeps & { readonly quotas: Quotas }): Feature {
  return { routes: { 'v1/tenancies': tenancyRoutes(base), 'v1/caps': capRoutes(base) } };
}
