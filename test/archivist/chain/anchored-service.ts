import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestService, until } from '../../api/test-service.js';
import { anchorRig, readAll } from './anchor-rig.js';

export const EVENT = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: {} };

export type AnchoredService = Awaited<ReturnType<typeof startAnchoredService>>;

/** A service with an asset whose events are anchored. The job itself stays away: the tests run it, and stop it where they like. */
export async function startAnchoredService() {
  const keysDir = await mkdtemp(join(tmpdir(), 'keys-'));
  const running = await startTestService({ ANCHOR_SCHEDULE: '0 0 1 1 *', KEYS_DIR: keysDir });
  const { owner } = running;
  const objectsDir = join(keysDir, 'objects');
  const rig = anchorRig(running, objectsDir);
  const { json } = await owner.post('/archivist/v2/assets', { attributes: {}, proof_mechanism: 'SIMPLE_HASH' });
  const asset = String(json['identity']);
  const record = () => owner.post(`/archivist/v2/${asset}/events`, EVENT);
  return {
    ...{ running, owner, rig, asset, objectsDir, record },
    tenantId: String(json['tenant_identity']).slice('tenant/'.length),
    /** Records an event, and resolves with its identity when it is confirmed. */
    async confirmed() {
      const { identity } = (await record()).json;
      const read = () => owner.get(`/archivist/v2/${identity}`);
      await until(read, (answer) => answer.json['confirmation_status'] === 'CONFIRMED', 20_000);
      return String(identity);
    },
    /** Anchors all that waits, and resolves with everything that the chain has. */
    async anchoredAll() {
      for (let attempt = 0; attempt < 50; attempt += 1) {
        await rig.anchor();
        if ((await readAll(rig.database)).waiting.length === 0) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return readAll(rig.database);
    },
    async close() {
      await running.close();
      await rm(keysDir, { recursive: true, force: true });
    },
  };
}
