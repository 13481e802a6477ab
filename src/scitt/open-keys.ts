import type { Feature } from '../platform/feature.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { configurationRoutes, keyByKidRoute } from './discovery-routes.js';
import { keyRoutes } from './key-routes.js';
import { type ManifestRouteDeps, manifestRoutes } from './manifest-routes.js';

interface KeyBase extends ManifestRouteDeps {
  readonly keyring: Keyring;
  readonly publicUrl: string;
}

/** The deployment's public keys and key manifests, and where clients find them. */
export function openKeys(base: KeyBase, file: () => Promise<Uint8Array>): Feature {
  return {
    routes: {
      'v1/didweb': [...keyRoutes(base), keyByKidRoute(base)],
      'v1/keymanifests': manifestRoutes(base, file),
      'v1/scrapi': configurationRoutes(base, '', 'Scrapi'),
    },
  };
}
