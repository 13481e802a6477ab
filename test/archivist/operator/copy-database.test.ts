import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyOperatorRoutes } from '../../../src/archivist/operator/copy-operator-routes.js';
import { engines } from '../../support/engines.js';

it.each(engines())(
  'the database on %s is copied only if it is embedded, once at a time, and a copy that fails leaves nothing',
  async (engine) => {
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
      const copyFiles = async (to: string) => {
        await writeFile(await mkdir(to).then(() => join(to, 'part')), 'part');
        throw new Error('the disk is full');
      };
      const [failing] = copyOperatorRoutes({
        database: { ...opened.database, copyFiles },
        copyFolder: join(folder, 'copy'),
      });
      await expect(failing!.handle({} as never)).rejects.toThrow('the disk is full');
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await opened.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
