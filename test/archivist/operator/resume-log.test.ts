import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { resumeLog } from '../../../src/archivist/operator/manage-logs.js';
import { findLogById } from '../../../src/ledger/halted/halted-log-store.js';
import { watchHaltedLogs } from '../../../src/ledger/halted/watch-halted-logs.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { ObjectStore } from '../../../src/platform/object-store.js';
import { openObjectStore } from '../../../src/platform/open-object-store.js';
import { parseConfig } from '../../../src/service/config/config.js';
import { startTestService, type TestService } from '../../api/test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

it('a log is not resumed that is halted for another reason by the time the object store has answered', async () => {
  const { database, deployment, keyring, clock, ids, keys } = running.service.parts;
  await running.owner.post('/archivist/v2/assets', { attributes: {} });
  const { json } = await running.owner.get('/archivist/v1/tenancies/self');
  const logId = String(json['identity']).slice('tenancies/'.length);
  const state = async () => (await database.inTransaction('system', (tx) => findLogById(tx, logId)))!;
  await vi.waitFor(
    async () => {
      const { leaves, size, publishedSize } = await state();
      expect([leaves > 0n, size]).toEqual([true, publishedSize]);
    },
    { timeout: 40_000, interval: 50 },
  );
  const halt = (reason: string) =>
    running.asOwner(`UPDATE archivist.log SET halted = '${reason}' WHERE log_id = '${logId}'`);
  await halt('published seal 1 is not in the object store');
  const objects = await openObjectStore(parseConfig(running.environment).objectStore);
  const get: ObjectStore['get'] = async (key) => {
    await halt('the object store has a later seal');
    return objects.get(key);
  };
  const objectStore = Object.create(objects, { get: { value: get } }) as ObjectStore;
  const logger = createLogger('silent');
  const halted = await watchHaltedLogs({ database, logger });
  await halted.close();
  const parts = { database, deployment, keyring, clock, ids, keys, objectStore, logger, halted };
  const resumed = resumeLog({ ...parts, receiptIssuer: 'https://archivist.example', nudge() {} }, logId);
  await expect(resumed).rejects.toMatchObject({ code: 'conflict' });
  expect((await state()).halted).toBe('the object store has a later seal');
});
