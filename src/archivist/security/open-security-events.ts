import type { Feature } from '../../platform/feature.js';
import type { ListSecurityEventsDeps } from './list-security-events.js';
import { securityEventRoutes } from './security-event-routes.js';

export function openSecurityEvents(base: ListSecurityEventsDeps): Feature {
  return { routes: { 'v1/security_events': securityEventRoutes(base) } };
}
