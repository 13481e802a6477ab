import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { parseConfig } from '../../src/service/config/config.js';
import { startService } from '../../src/start-service.js';
import { onServer } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

it.skipIf(!serverUrl)('a ledger that fails early fails the start, after everything is closed', async () => {
  const database = `failed_ledger_${process.pid}_${Date.now()}`;
  await onServer(serverUrl!, `CREATE DATABASE ${database}`);
  const folder = await mkdtemp(join(inject('runFolder'), 'failed-ledger-'));
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  let closed = 0;
  try {
    const config = parseConfig({
      ...{ PORT: '0', PLUGIN_PORT: '0', PUBLIC_URL: 'http://archivist.example', LOG_LEVEL: 'silent' },
      DATA_DIR: folder,
      DATABASE_URL: Object.assign(new URL(serverUrl!), { pathname: `/${database}` }).href,
    });
    const starting = startService(config, {
      openLedgerThread: () => ({
        ledger: (here) => ({
          ...here,
          async start() {
            await wait(1);
            throw new Error('the thread has no connection');
          },
          stop: async () => undefined,
        }),
        async close() {
          closed += 1;
        },
      }),
    });
    await expect(starting).rejects.toThrow('the thread has no connection');
    expect([closed, unhandled]).toEqual([1, []]);
  } finally {
    process.off('unhandledRejection', note);
    await rm(folder, { recursive: true, force: true });
    await onServer(serverUrl!, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  }
});
