import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { type KeyManifests, openKeyManifests } from '../../src/platform/keys/manifest/key-manifests.js';
import { manifestFile } from '../../src/platform/keys/manifest/manifest-file.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import type { OpenKeyring } from '../../src/platform/keys/open-keyring.js';
import { openObjectStore } from '../../src/platform/open-object-store.js';
import { parseConfig } from '../../src/service/config/config.js';
import { watchKeys } from '../../src/service/watch-keys.js';
import { startTestService, type TestService } from '../api/test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

/** The manifests as a process knows them whose first look is overtaken by a change. */
function overtaken(manifests: KeyManifests, change: () => Promise<unknown>): KeyManifests {
  const before = manifests.current;
  let looks = 0;
  return {
    get current() {
      return looks < 2 ? before : manifests.current;
    },
    get faults() {
      return manifests.faults;
    },
    async refresh() {
      looks += 1;
      if (looks === 1) await change();
      return looks === 2;
    },
  };
}

describe('the keys of a process', () => {
  it('have no fault while another process rotates one: its rows are those of a newer manifest', async () => {
    const { parts } = running.service;
    const found: number[] = [];
    const watch = watchKeys({
      ...parts.keys,
      keyring: parts.keyring as OpenKeyring,
      manifests: overtaken(parts.keys.manifests, () => rotateDeploymentKey(parts.keys, 'note')),
      found: (faults) => found.push(faults),
    });
    await watch.adoptNow();
    await watch.close();
    expect(new Set(found)).toEqual(new Set([0]));
  });

  it('have no fault if another process makes a manifest between a look at the database and one at the objects', async () => {
    const { keys, database, deployment } = running.service.parts;
    const { keysDir, objectStore } = parseConfig(running.environment);
    const objects = await openObjectStore(objectStore);
    let rotates = false;
    const manifests = await openKeyManifests({
      database,
      objectStore: {
        ...objects,
        async get(key) {
          if (rotates) {
            rotates = false;
            await rotateDeploymentKey(keys, 'note');
          }
          return objects.get(key);
        },
      },
      file: manifestFile(keysDir, deployment.deploymentTenancy),
      verifySignature: nodeVerify,
      deploymentTenancy: deployment.deploymentTenancy,
    });
    const { number } = manifests.current.manifest;
    rotates = true;
    expect(await manifests.refresh(true)).toBe(true);
    expect([manifests.current.manifest.number > number, manifests.faults]).toEqual([true, []]);
  });
});
