import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyOperatorRoutes } from '../../../src/archivist/operator/copy-operator-routes.js';
import { engines } from '../../support/engines.js';

it.each(engines())('a copy of the database on %s: one at a time, and of the embedded engine alone', async (engine) => {
  const opened = await engine.open();
  const folder = await mkdtemp(join(tmpdir(), 'copy-database-'));
  try {
    const [route] = copyOperatorRoutes({ database: opened.database, copyFolder: join(folder, 'copy') });
    const copy = () => route!.handle({} as never);
    const [first, second] = await Promise.allSettled([copy(), copy()]);
    const refused = (message: string) => ({ status: 'rejected', reason: { code: 'conflict', message } });
    if (engine.name === 'PostgreSQL') {
      const onServer = 'This service uses a PostgreSQL server: set DATABASE_URL and read it there.';
      expect([first, second]).toMatchObject([refused(onServer), refused(onServer)]);
      return;
    }
    expect(first).toMatchObject({ status: 'fulfilled', value: { body: { folder: join(folder, 'copy') } } });
    expect(second).toMatchObject(refused('Another copy is being made: try again when it has ended.'));
    await expect(copy()).resolves.toMatchObject({ body: {} });
  } finally {
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  }
});
