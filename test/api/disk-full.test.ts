import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeCbor } from '../../src/core/cose/cbor.js';
import { ENGINES } from '../faults/deployment.js';
import { until } from '../faults/journal.js';
import { hasRedis, type PrivateServer, privateRedis, redisCommand } from '../faults/private-servers.js';
import { startTestService, type TestService } from './test-service.js';
import { uploadFile } from './upload-file.js';

/** More than any disk has free. */
const RESERVE = { MIN_FREE_DISK_BYTES: '999999999999999' };
const NO_ID = '0190a8c0-0000-7000-8000-00000000dead';
const EMBEDDED = { DATABASE_URL: '', REDIS_URL: '' };

describe.each(ENGINES)('with less room than the reserve, on %s', (engine) => {
  let running: TestService;
  beforeAll(async () => {
    running = await startTestService({ ...RESERVE, ...(engine === 'embedded' ? EMBEDDED : {}) });
  });
  afterAll(() => running?.close());
  const use = engine === 'embedded' ? 'the database' : 'the object store';

  it('writes are refused with the reason and the time of the next attempt', async () => {
    const { owner, url } = running;
    const paths = ['/archivist/v2/assets', '/archivist/v1/events', '/archivist/v2/locations'];
    for (const answer of await Promise.all(paths.map((path) => owner.post(path, {})))) {
      expect([answer.status, answer.json['error']]).toEqual([507, 'disk_full']);
      expect(answer.json['description']).toContain(`The disk of ${use} is full.`);
      expect(answer.headers.get('retry-after')).toBe('10');
    }
    expect((await uploadFile(url, owner, new Uint8Array(9))).json['error']).toBe('disk_full');
  });

  it('the description of each operation says whether it is refused so', async () => {
    const { owner, anonymous, url } = running;
    type Operation = { readonly security: readonly object[]; readonly responses: Readonly<Record<string, unknown>> };
    const { paths } = (await anonymous.get('/openapi.json')).json as {
      paths: Record<string, Record<string, Operation>>;
    };
    const told: string[] = [];
    const refused: string[] = [];
    for (const [path, item] of Object.entries(paths))
      for (const [method, { security, responses }] of Object.entries(item)) {
        if (method === 'get' || method === 'delete' || JSON.stringify(security).includes('operator')) continue;
        if ('507' in responses) told.push(`${method} ${path}`);
        const { status } = await fetch(url + path.replaceAll(/\{\w+\}/g, NO_ID), {
          method: method.toUpperCase(),
          headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
          body: '{}',
        });
        if (status === 507) refused.push(`${method} ${path}`);
      }
    expect(told.length).toBeGreaterThan(20);
    expect(told).toEqual(refused);
  });

  it('a refused registration has the form that SCRAPI gives to errors', async () => {
    const { status, bytes } = await running.owner.post('/entries', 'no statement');
    expect(status).toBe(507);
    expect((decodeCbor(bytes) as ReadonlyMap<number, unknown>).get(-1)).toBe('Insufficient Storage');
  });

  it('reads, searches and tokens are served', async () => {
    const { owner, ownerSecret, url } = running;
    expect((await owner.get('/archivist/v2/assets')).status).toBe(200);
    expect((await owner.post('/archivist/v1/events/search', { top: 1 })).status).toBe(200);
    const body = { grant_type: 'client_credentials', client_id: owner.clientId, client_secret: ownerSecret };
    const token = { method: 'POST', body: new URLSearchParams(body) };
    expect((await fetch(`${url}/archivist/iam/v1/appidp/token`, token)).status).toBe(200);
  });

  it('readiness and metrics name the disk', async () => {
    const ready = await running.anonymous.get('/readyz');
    const full = engine === 'embedded' ? 'database, objects, spool' : 'objects, spool';
    expect([ready.status, ready.json]).toMatchObject([
      503,
      { ready: false, checks: { disk: `FULL: ${full}; writes are refused until there is room` } },
    ]);
    const metrics = new TextDecoder().decode((await running.anonymous.get('/metrics')).bytes);
    expect(metrics).toContain('archivist_disk_full{what="objects"} 1');
    expect(metrics).toMatch(/^archivist_disk_free_bytes\{what="objects"\} \d+$/m);
    expect(metrics).toContain('conserver_link_disk_full{what="spool"} 1');
  });

  it.runIf(engine === 'embedded')('the database itself refuses what would write', async () => {
    const { database, deployment } = running.service.parts;
    const write = database.inTransaction('system', (tx) => tx.execute('DELETE FROM archivist.member_session'));
    await expect(write).rejects.toMatchObject({ code: 'disk_full', use: 'database' });
    const read = database.inTransaction('system', (tx) => tx.query('SELECT 1 AS one FROM archivist.deployment'));
    expect([deployment.deploymentTenancy !== '', await read]).toEqual([true, [{ one: 1 }]]);
  });

  it.runIf(engine === 'embedded')('captures are refused, and the plugin says so', async () => {
    const link = running.service.conserverLinkUrl!;
    const post = fetch(`${link}/operations/vcon_created`, { method: 'POST', body: '{}' });
    await expect(post).rejects.toThrow();
    const health = await fetch(`${link}/healthz`);
    expect([health.status, await health.json()]).toEqual([
      503,
      { status: expect.stringContaining('The disk of the queue is full.') },
    ]);
  });
});

describe.skipIf(!hasRedis())('a Redis without room', () => {
  let redis: PrivateServer;
  let running: TestService;
  const set = (maxmemory: string) =>
    redisCommand(redis.url, (client: Redis) => client.config('SET', 'maxmemory', maxmemory));
  const state = async () => String(((await running.anonymous.get('/readyz')).json['checks'] as { disk: string }).disk);
  beforeAll(async () => {
    redis = await privateRedis(`${process.env['TMPDIR'] ?? '/tmp'}/redis-full-${process.pid}`);
    running = await startTestService({ REDIS_URL: redis.url });
  });
  afterAll(async () => {
    await running?.close();
    await redis?.close();
  });

  it('is named while it refuses writes; the service goes on without it, and with it when there is room', async () => {
    await set('1');
    await until(state, (text) => text === 'FULL: queue; captures that need it are refused until there is room');
    expect((await running.anonymous.get('/readyz')).status).toBe(200);
    expect((await running.owner.post('/archivist/v2/assets', {})).status).toBe(200);
    expect((await fetch(`${running.service.conserverLinkUrl}/healthz`)).status).toBe(503);
    await set('0');
    await until(state, (text) => text === 'ok');
    expect((await fetch(`${running.service.conserverLinkUrl}/healthz`)).status).toBe(200);
  });
});
