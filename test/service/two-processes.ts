import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '../../src/service/config/config.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { freePort } from '../support/free-port.js';

interface TwoProcesses {
  readonly first: TestService;
  /** Serves the interface only. */
  readonly second: RunningService;
  close(): Promise<void>;
}

/** Two processes of one deployment, as far as their memory goes: on one database, with one set of keys and objects. */
export async function startTwoProcesses(): Promise<TwoProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'two-'));
  const first = await startTestService({
    KEYS_DIR: join(folder, 'keys'),
    OBJECT_STORE_URL: `file://${join(folder, 'objects')}`,
    PUBLIC_URL: 'http://archivist.example',
  });
  const own = { ROLE: 'api', DATA_DIR: join(folder, 'second'), PORT: String(await freePort()) };
  const second = await startService(parseConfig({ ...first.environment, ...own })).catch(async (error: unknown) => {
    await first.close();
    throw error;
  });
  return {
    first,
    second,
    async close() {
      await second.close();
      await first.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
