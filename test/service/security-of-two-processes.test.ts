import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/platform/config.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { sendRequest } from '../api/send-request.js';
import { type Client, clientWith, freePort, startTestService, type TestService } from '../api/test-service.js';
import { redisUrl, serverUrl as server } from '../support/prerequisites.js';

const APPLICATIONS = '/archivist/iam/v1/applications';

describe.skipIf(!server)('two processes of one deployment', () => {
  const name = `security_${randomUUID().replaceAll('-', '')}`;
  const databaseUrl = () => Object.assign(new URL(server!), { pathname: `/${name}` }).href;
  let folder: string;
  let first: TestService;
  let second: RunningService;

  beforeAll(async () => {
    await onServer(`CREATE DATABASE ${name}`);
    folder = await mkdtemp(join(tmpdir(), 'two-'));
    const shared = {
      DATABASE_URL: databaseUrl(),
      KEYS_DIR: join(folder, 'keys'),
      OBJECT_STORE_URL: `file://${join(folder, 'objects')}`,
      PUBLIC_URL: 'http://archivist.example',
    };
    first = await startTestService(shared);
    const own = { DATA_DIR: join(folder, 'second'), PORT: String(await freePort()), LOG_LEVEL: 'silent' };
    const redis = { REDIS_URL: redisUrl ?? '' };
    second = await startService(parseConfig({ ROLE: 'api', ...redis, ...shared, ...own }));
  });
  afterAll(async () => {
    await second?.close();
    await first?.close();
    await rm(folder, { recursive: true, force: true });
    await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });

  const throughSecond = ({ token }: Client) => clientWith(second.url, token);

  it('know at once of a token that the other one revoked', async () => {
    const client = await first.client({});
    expect((await throughSecond(client).get('/archivist/v2/assets')).status).toBe(200);
    expect((await first.owner.post(`${APPLICATIONS}/${client.clientId}:revoke-tokens`, '')).status).toBe(200);
    expect((await throughSecond(client).get('/archivist/v2/assets')).status).toBe(401);
  });

  it('know at once of a role that the other one took away', async () => {
    const client = await first.client({ roles: ['OWNER'] });
    expect((await throughSecond(client).get(APPLICATIONS)).status).toBe(200);
    await sendRequest(first.url, first.owner, 'PATCH', `${APPLICATIONS}/${client.clientId}`, { roles: [] });
    expect((await throughSecond(client).get(APPLICATIONS)).status).toBe(403);
  });
});

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}
