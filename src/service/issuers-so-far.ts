import type { Deployment } from '../archivist/deployment.js';
import { readKeyManifest } from '../core/keys/read-key-manifest.js';
import { listKeyManifests } from '../platform/keys/manifest/key-manifest-store.js';
import type { Database } from '../platform/postgres/database.js';

/**
 * Every name that the service has had in a key manifest. After a move to another `PUBLIC_URL` its statements keep the
 * earlier one for ever, so nobody else may be given it.
 */
export async function issuersSoFar(database: Database, { deploymentTenancy }: Deployment): Promise<readonly string[]> {
  const rows = await database.inTransaction('system', (tx) => listKeyManifests(tx, deploymentTenancy, 0n));
  return [...new Set(rows.map(({ manifest }) => readKeyManifest(manifest).manifest.issuer))];
}
