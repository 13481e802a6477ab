import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import type { KeyManifests } from '../../src/platform/keys/manifest/key-manifests.js';
import type { OpenKeyring } from '../../src/platform/keys/open-keyring.js';
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
});
