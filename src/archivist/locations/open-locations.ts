import type { Feature } from '../../platform/feature.js';
import { type LocationDeps, locationRoutes } from './location-routes.js';

export function openLocations(base: LocationDeps): Feature {
  return { routes: { 'v2/locations': locationRoutes(base) } };
}
