import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { hasRedis, privateRedis } from '../faults/private-servers.js';
import { killBuilt, startBuilt } from '../support/built-program.js';
import { embeddedDataDir } from '../support/engines.js';

const NOTICED_MS = 2_000;
/** Half of the time after which a process that does not stop is ended. */
const STOPPED_WITHIN_MS = 12_500;

afterAll(killBuilt);

describe.skipIf(!hasRedis())('a service whose Redis is away', { timeout: 120_000 }, () => {
  it('stops at once, with exit status 0, and closes its database', async () => {
    const folder = await mkdtemp(join(inject('runFolder'), 'stop-'));
    try {
      const redis = await privateRedis(join(folder, 'redis'));
      const DATA_DIR = await embeddedDataDir(join(folder, 'data'));
      const settings = { PORT: '0', PLUGIN_PORT: '0', PUBLIC_URL: 'http://archivist.example', LOG_LEVEL: 'info' };
      const service = startBuilt('main', { ...settings, DATA_DIR, REDIS_URL: redis.url });
      await service.says(/Stop with Ctrl-C or SIGTERM/);
      await redis.close();
      await wait(NOTICED_MS);
      const asked = performance.now();
      service.signal('SIGTERM');
      expect(await service.ended).toBe(0);
      expect(performance.now() - asked).toBeLessThan(STOPPED_WITHIN_MS);
      expect(service.written.out).not.toContain('did not stop');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
