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

const clockOff = (ms: number) => ({ now: () => Date.now() + ms });

/**
 * Two processes of one deployment, as far as their memory goes: on one database, with one set of keys and objects.
 * @param apartMs by how much the clock of the first is ahead of the other one's
 */
export async function startTwoProcesses(apartMs = 0): Promise<TwoProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'two-'));
  const shared = {
    KEYS_DIR: join(folder, 'keys'),
    OBJECT_STORE_URL: `file://${join(folder, 'objects')}`,
    PUBLIC_URL: 'http://archivist.example',
  };
  const first = await startTestService(shared, undefined, clockOff(apartMs / 2));
  const own = { ROLE: 'api', DATA_DIR: join(folder, 'second'), PORT: String(await freePort()) };
  const config = parseConfig({ ...first.environment, ...own });
  const second = await startService(config, { clock: clockOff(-apartMs / 2) }).catch(async (error: unknown) => {
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
