import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTable } from '../api/access-table.js';
import {
  type Client,
  clientOf,
  clientWith,
  requestToken,
  startTestService,
  type TestService,
} from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';
import { embeddedDataDir } from '../support/engines.js';

let running: TestService;
let keysDir: string;
beforeAll(async () => {
  keysDir = join(await embeddedDataDir(), 'operator-keys');
  running = await startTestService({ KEYS_DIR: keysDir });
});
afterAll(async () => {
  await running?.close();
  await rm(join(keysDir, '..'), { recursive: true, force: true });
});

/** The command line as the operator of the service types it. */
const tenancy = (args: readonly string[], environment: Record<string, string> = {}) =>
  commandLine(['tenancy', ...args], { KEYS_DIR: keysDir, PUBLIC_URL: running.url, ...environment });

async function made(name: string): Promise<{ identity: string; client_id: string; client_secret: string }> {
  return JSON.parse((await tenancy(['create', name, '--json'])).out);
}

/** What the audit of a tenancy says was done, in order. */
async function actionsOf(identity: string): Promise<unknown[]> {
  const tenantId = identity.slice('tenancies/'.length);
  const rows = await running.service.parts.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    tx.query<{ action: string }>(
      `SELECT attributes ->> 'action' AS action FROM archivist.asset_free_event WHERE tenant_id = $1 ORDER BY event_id`,
      [tenantId],
    ),
  );
  return rows.map(({ action }) => action);
}

const tokenOf = (made: { client_id: string; client_secret: string }) =>
  requestToken(running.url, {
    grant_type: 'client_credentials',
    client_id: made.client_id,
    client_secret: made.client_secret,
  });

describe('tenancy create', () => {
  it('makes a tenancy whose first Owner can do everything in it, and nothing in another one', async () => {
    const answer = await tenancy(['create', 'Second', '--domain', 'Example.com']);
    expect([answer.exitCode, answer.err]).toEqual([0, '']);
    const [, id] = /client id {6}(\S+)/.exec(answer.out)!;
    const [, secret] = /client secret {2}(\S+)/.exec(answer.out)!;
    const owner = await clientOf(running.url, id!, secret!);
    expect((await owner.get('/archivist/v1/tenancies/self')).json).toMatchObject({
      display_name: 'Second',
      verified_domain: 'example.com',
    });
    const asset = (await owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'Call' } })).json;
    expect((await owner.get(`/archivist/v2/${asset['identity']}`)).status).toBe(200);
    expect((await running.owner.get(`/archivist/v2/${asset['identity']}`)).status).toBe(404);
  });

  it('refuses a name or a domain that is none', async () => {
    for (const args of [[''], ['x', '--domain', 'no domain'], ['x'.repeat(129)]]) {
      const { exitCode, err } = await tenancy(['create', ...args]);
      expect([exitCode, err]).toEqual([1, expect.stringMatching(/^error: (display_name|verified_domain): /)]);
    }
    expect((await tenancy(['create'])).exitCode).toBe(2);
  });
});

describe('tenancy list', () => {
  it('lists every organisation by name, and nothing of what it holds', async () => {
    const { identity } = await made('Listed');
    const { tenancies } = JSON.parse((await tenancy(['list', '--json'])).out) as {
      tenancies: Record<string, unknown>[];
    };
    expect(tenancies.map((each) => each['display_name'])).toEqual(expect.arrayContaining(['First tenancy', 'Listed']));
    expect(tenancies.find((each) => each['identity'] === identity)).toEqual({
      identity,
      display_name: 'Listed',
      verified_domain: '',
      created_at: expect.any(String),
      disabled_at: '',
    });
    expect((await tenancy(['list'])).out).toContain(`${identity}  Listed  (open)`);
    const forged = await made('Two\ntenancies/x  Three');
    expect((await tenancy(['list'])).out).toContain(`${forged.identity}  Two\\u000atenancies/x  Three  (open)`);
  });
});

describe('tenancy disable', () => {
  it('has every token of the tenancy refused at once, and no new one made, until it is enabled', async () => {
    const shut = await made('Shut');
    const owner: Client = clientWith(running.url, String((await tokenOf(shut)).json['access_token']));
    const status = async () => (await owner.get('/archivist/v2/assets')).status;
    expect(await status()).toBe(200);
    expect((await tenancy(['disable', shut.identity])).out).toContain('disabled since');
    expect([await status(), (await tokenOf(shut)).status]).toEqual([401, 401]);
    expect((await running.owner.get('/archivist/v2/assets')).status).toBe(200);
    await tenancy(['enable', shut.identity]);
    expect([await status(), (await tokenOf(shut)).status]).toEqual([200, 200]);
    const { json } = await owner.get(`/archivist/v1/security_events?resource=${shut.identity}`);
    const entries = json['security_events'] as { attributes: { action: string; actor: { subject: string } } }[];
    expect(entries.map(({ attributes }) => `${attributes.actor.subject} ${attributes.action}`)).toEqual([
      'operator tenancy.enable',
      'operator tenancy.disable',
      'operator tenancy.create',
    ]);
  });

  it('changes and records nothing where the tenancy is disabled, or open, already', async () => {
    const { identity } = await made('Shut twice');
    const disabledAt = async () =>
      (JSON.parse((await tenancy(['disable', identity, '--json'])).out) as { disabled_at: string }).disabled_at;
    const first = await disabledAt();
    await wait(5);
    expect([first === '', await disabledAt()]).toEqual([false, first]);
    for (const _ of [1, 2]) expect((await tenancy(['enable', identity])).exitCode).toBe(0);
    expect(await actionsOf(identity)).toEqual(['tenancy.create', 'tenancy.disable', 'tenancy.enable']);
  });

  it('knows neither the service’s own tenancies nor one that is not there; no other command does', async () => {
    const { deploymentTenancy, publicTenancy } = running.service.parts.deployment;
    for (const id of [deploymentTenancy, publicTenancy, '00000000-0000-4000-8000-000000000000', 'x'])
      for (const args of [
        ['disable', id],
        ['verify-domain', id, 'example.org'],
      ])
        expect(await tenancy(args)).toMatchObject({
          exitCode: 1,
          err: expect.stringContaining(id === 'x' ? 'uuid' : 'There is no such tenancy.'),
        });
  });
});

describe('the token of the operator', () => {
  it('lies beside the keys, for their owner alone', async () => {
    expect((await stat(join(keysDir, 'operator-token'))).mode & 0o777).toBe(0o600);
  });

  it('opens no route of a tenancy', async () => {
    const operator = clientWith(running.url, (await readFile(join(keysDir, 'operator-token'), 'utf8')).trim());
    expect((await operator.get('/archivist/operator/v1/tenancies')).status).toBe(200);
    const closed = accessTable.rows.filter((row) => row.expect[0] === 401 && !/operator|appidp/.test(row.route));
    expect(closed.length).toBeGreaterThan(50);
    for (const row of closed) {
      const [method, path] = row.route.split(' ') as [string, string];
      const url = `${running.url}${path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')}`;
      const headers = { authorization: `Bearer ${operator.token}`, 'content-type': 'application/json' };
      const { status } = await fetch(url, { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) });
      expect([row.route, status]).toEqual([row.route, 401]);
    }
  });

  it('is asked for: without it, or with another one, nothing is done', async () => {
    const body = { display_name: 'Nobody’s' };
    for (const token of ['', 'x', 'A'.repeat(43), running.owner.token])
      expect((await clientWith(running.url, token).post('/archivist/operator/v1/tenancies', body)).status).toBe(401);
    const { exitCode, err } = await tenancy(['list'], { KEYS_DIR: join(keysDir, 'not-there') });
    expect([exitCode, err]).toEqual([1, expect.stringContaining('operator-token cannot be read')]);
  });

  it('leaves a trace of what was done with it in the audit of the tenancy', async () => {
    const kept = await made('Kept');
    await tenancy(['verify-domain', kept.identity, 'example.org']);
    const owner = clientWith(running.url, String((await tokenOf(kept)).json['access_token']));
    expect((await owner.get('/archivist/v1/tenancies/self')).json['verified_domain']).toBe('example.org');
    expect(await actionsOf(kept.identity)).toEqual(['tenancy.create', 'tenancy.verify_domain']);
  });
});
