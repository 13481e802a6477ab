import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { engines } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

const engine = engines().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!engine)('a service whose database only reads', () => {
  let running: TestService;
  let administrator: pg.Client;
  let name: string;
  beforeAll(async () => {
    running = await startTestService({}, engine!);
    name = new URL(running.environment['DATABASE_URL']!).pathname.slice(1);
    administrator = new pg.Client({ connectionString: serverUrl! });
    await administrator.connect();
  });
  afterAll(async () => {
    await administrator?.end();
    await running?.close();
  });

  /** Sets it for new connections, and ends those that are there. */
  async function onlyReads(setting: 'on' | 'off'): Promise<void> {
    await administrator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${setting}`);
    await administrator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  }

  async function readiness(): Promise<readonly unknown[]> {
    const { status, json } = await running.anonymous.get('/readyz');
    return [status, (json['checks'] as Record<string, string>)['database']];
  }

  it('is not ready and says why, and is ready again by itself', async () => {
    await onlyReads('on');
    await expect.poll(readiness, { timeout: 10_000 }).toEqual([503, 'PostgreSQL: only reads']);
    await onlyReads('off');
    await expect.poll(readiness, { timeout: 20_000 }).toEqual([200, 'PostgreSQL: ok']);
  });
});
