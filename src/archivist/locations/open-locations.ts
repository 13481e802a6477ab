import type { Quotas } from '../../iam/tenancies/quotas.js';
import type { Feature } from '../../platform/feature.js';
import { type LocationDeps, locationRoutes } from './location-routes.js';

export function openLocations(base: Omit<LocationDeps, 'quotas'>, { quotas }: { readonly quotas: Quotas }): Feature {
  return { routes: { 'v2/locations': locationRoutes({ ...base, quotas }) } };
}
