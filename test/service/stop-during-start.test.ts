import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { killBuilt, startBuilt } from '../support/built-program.js';
import { embeddedDataDir } from '../support/engines.js';

afterAll(killBuilt);

describe('a service that is told to stop while it starts', { timeout: 120_000 }, () => {
  it('closes what it has opened, ends with exit status 0, and does not say that it listens', async () => {
    const folder = await mkdtemp(join(inject('runFolder'), 'stop-'));
    try {
      const DATA_DIR = await embeddedDataDir(join(folder, 'data'));
      const database = join(DATA_DIR, 'embedded');
      const settings = { PORT: '0', PLUGIN_PORT: '0', PUBLIC_URL: 'http://archivist.example', LOG_LEVEL: 'info' };
      const service = startBuilt('main', { ...settings, DATA_DIR });
      const isLocked = async () => (await readdir(database)).some((name) => name.startsWith('lock.'));
      while (!(await isLocked())) await wait(5);
      service.signal('SIGTERM');
      expect(await service.ended).toBe(0);
      expect(service.written.out).not.toMatch(/listens|did not stop/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
