import type { Feature } from '../../platform/feature.js';
import { memberRoutes } from './member-routes.js';
import { membershipRoutes } from './membership-routes.js';

export function openMembers(
  base: Parameters<typeof memberRoutes>[0] & Parameters<typeof membershipRoutes>[0],
): Feature {
  return { routes: { 'iam/v1/members': memberRoutes(base), 'iam/v1/memberships': membershipRoutes(base) } };
}
