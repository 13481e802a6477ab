import { type Rotated, rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { openKeyManifests } from '../../src/platform/keys/manifest/key-manifests.js';
import { manifestFile } from '../../src/platform/keys/manifest/manifest-file.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { openObjectStore } from '../../src/platform/open-object-store.js';
import { parseConfig } from '../../src/service/config/config.js';
import type { TestService } from './test-service.js';

/** Manifests as another process has them: what it does, the running service learns from the database. */
export async function manifestsElsewhere(running: TestService) {
  const { keysDir, objectStore } = parseConfig(running.environment);
  const { database, deployment } = running.service.parts;
  const { deploymentTenancy } = deployment;
  return openKeyManifests({
    database,
    deploymentTenancy,
    objectStore: await openObjectStore(objectStore),
    file: manifestFile(keysDir, deploymentTenancy),
    verifySignature: nodeVerify,
  });
}

/** Rotates a key as another process would. */
export async function rotateElsewhere(
  running: TestService,
  role: Parameters<typeof rotateDeploymentKey>[1],
  stolen = false,
): Promise<Rotated> {
  const manifests = await manifestsElsewhere(running);
  const adoptNow = async () => void (await manifests.refresh());
  return rotateDeploymentKey({ ...running.service.parts.keys, manifests, adoptNow }, role, stolen);
}
