import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFirstLook } from '../../src/iam/sign-in/first-look.js';
import { isFromThisMachine, isOnlyLocal } from '../../src/platform/http/loopback.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { chromiumPath } from '../support/chromium.js';
import { freePort } from '../support/free-port.js';
import { pageRig } from './page-rig.js';

const LOOPBACK = { host: '127.0.0.1:8080' };

/** One request with exactly these headers. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: IncomingHttpHeaders }>((resolve, reject) => {
    request(url, { method, headers }, (reply) => {
      reply.resume();
      resolve({ status: reply.statusCode!, headers: reply.headers });
    })
      .on('error', reject)
      .end();
  });
}

describe('a request from this machine', () => {
  const isLocal = (remoteAddress: string | undefined, headers: IncomingHttpHeaders) =>
    isFromThisMachine({ socket: { remoteAddress }, headers } as IncomingMessage);

  it.each([
    ['127.0.0.1', LOOPBACK],
    ['127.8.0.1', { host: 'localhost:80' }],
    ['::1', { host: '[::1]:8080' }],
    ['::ffff:127.0.0.1', { host: 'LOCALHOST' }],
  ])('is one from %s with %o', (peer, headers) => expect(isLocal(peer, headers)).toBe(true));

  it.each([
    ['192.0.2.7', LOOPBACK],
    ['::ffff:192.0.2.7', LOOPBACK],
    [undefined, LOOPBACK],
    ['127.0.0.1', {}],
    ['127.0.0.1', { host: 'archivist.example' }],
    ['127.0.0.1', { host: '127.0.0.1.archivist.example' }],
    ['127.0.0.1', { host: 'localhost.archivist.example:8080' }],
    ['127.0.0.1', { host: '192.0.2.7' }],
    ['127.0.0.1', { ...LOOPBACK, forwarded: 'for=192.0.2.7' }],
    ['127.0.0.1', { ...LOOPBACK, 'x-forwarded-for': '127.0.0.1' }],
    ['127.0.0.1', { ...LOOPBACK, 'x-forwarded-host': 'localhost' }],
    ['127.0.0.1', { ...LOOPBACK, 'x-real-ip': '127.0.0.1' }],
    ['127.0.0.1', { ...LOOPBACK, via: '1.1 proxy' }],
  ])('is none from %s with %o', (peer, headers) => expect(isLocal(peer, headers)).toBe(false));
});

describe('a service that only its own machine reaches', () => {
  const local = { host: '127.0.0.1', publicUrl: 'http://localhost:8080', trustProxy: undefined };

  it('listens on loopback under a name of loopback', () => expect(isOnlyLocal(local)).toBe(true));

  it.each([{ host: '0.0.0.0' }, { host: '::' }, { publicUrl: 'https://archivist.example' }, { trustProxy: 1 }])(
    'is none with %o',
    (change) => expect(isOnlyLocal({ ...local, ...change })).toBe(false),
  );
});

describe('the link of a start', () => {
  let running: TestService;
  let now = Date.now();
  beforeAll(async () => {
    running = await startTestService();
  });
  afterAll(() => running?.close());

  const local = (cookie?: string) =>
    ({ method: 'GET', socket: { remoteAddress: '127.0.0.1' }, headers: { ...LOOPBACK, cookie } }) as IncomingMessage;
  const logger = { info: () => undefined } as never;
  const offer = (database = running.service.parts.database) => {
    const { ids } = running.service.parts;
    const deps = { database, ids, logger, clock: { now: () => now }, publicUrl: running.url };
    const firstLook = createFirstLook(deps, running.owner.clientId);
    return { ...firstLook, token: new URL(firstLook.link).searchParams.get('token')! };
  };
  const pair = (cookie: string) => cookie.slice(0, cookie.indexOf(';'));

  it('is good for ten minutes', async () => {
    const [early, late] = [offer(), offer()];
    now += 599_000;
    expect(await early.redeem(local(), early.token)).toMatch(/; HttpOnly; SameSite=Strict$/);
    now += 1_000;
    await expect(late.redeem(local(), late.token)).rejects.toMatchObject({ status: 403 });
  });

  it('is good once, also for two requests at the same time', async () => {
    const { redeem, token } = offer();
    const both = await Promise.allSettled([redeem(local(), token), redeem(local(), token)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(redeem(local(), token)).rejects.toMatchObject({ status: 403 });
  });

  it('is not used up by a request that the database did not answer', async () => {
    const { database } = running.service.parts;
    let away = true;
    const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const { redeem, token } = offer({
      ...database,
      inTransaction: (scope, work) => (away ? Promise.reject(lost) : database.inTransaction(scope, work)),
    });
    await expect(redeem(local(), token)).rejects.toBe(lost);
    away = false;
    expect(await redeem(local(), token)).toContain('HttpOnly');
  });

  it('signs nobody in when the first Owner was deleted', async () => {
    const { database, ids } = running.service.parts;
    const deps = { database, ids, logger, clock: { now: () => now }, publicUrl: running.url };
    const { redeem, link } = createFirstLook(deps, ids.uuid());
    const token = new URL(link).searchParams.get('token')!;
    await expect(redeem(local(), token)).rejects.toMatchObject({
      status: 403,
      description: 'The first Owner was deleted.',
    });
  });

  it('opens a session of the application that ends by time, by an idle hour and by a revocation', async () => {
    const open = async () => {
      const { redeem, token, principalOf } = offer();
      const cookie = pair(await redeem(local(), token));
      return () => principalOf(local(cookie));
    };
    const principal = await (await open())();
    expect(principal).toMatchObject({ kind: 'application', subject: running.owner.clientId, roles: ['OWNER'] });
    const idle = await open();
    now += 59 * 60_000;
    expect(await idle()).toBeDefined();
    now += 60 * 60_000;
    expect(await idle()).toBeUndefined();
    const long = await open();
    for (let halfHours = 0; halfHours < 23; halfHours += 1) {
      now += 30 * 60_000;
      expect(await long()).toBeDefined();
    }
    now += 30 * 60_000;
    expect(await long()).toBeUndefined();
    const revoked = await open();
    const path = `/archivist/iam/v1/applications/${running.owner.clientId}:revoke-tokens`;
    expect((await running.owner.post(path, {})).status).toBe(200);
    expect(await revoked()).toBeUndefined();
  });
});

describe('the built program', { timeout: 240_000 }, () => {
  let dataDir: string;
  let program: BuiltProgram;
  let environment: Record<string, string>;
  let link: string;
  const LINK = /first Owner \(once, within ten minutes\): (\S+)/;

  const start = async (more: Record<string, string>, args: readonly string[] = []) => {
    const started = startBuilt('main', { ...environment, ...more }, args);
    await started.says(/^Stop with /m);
    return started;
  };
  const stop = async (started: BuiltProgram) => {
    started.signal('SIGTERM');
    await started.ended;
  };
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'first-look-'));
    environment = { DATA_DIR: dataDir, PORT: String(await freePort()), PLUGIN_PORT: String(await freePort()) };
    program = await start({}, ['--demo']);
    link = LINK.exec(program.written.out)![1]!;
  }, 240_000);
  afterAll(async () => {
    await killBuilt();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('prints only lines for its operator: where it listens, its data, how to sign in, what the demo has', () => {
    const lines = program.written.out.trimEnd().split('\n');
    const begins = lines.map((line) => /^[\w-]+( [a-z]+)?/.exec(line)?.[0]);
    expect(begins).toEqual([
      'vcon-archivist listens',
      'Data',
      'First',
      'Engines',
      'Root key',
      'Sign in',
      'Demo',
      'Demo',
      'Stop with',
    ]);
    expect(program.written.err).toBe('');
  });

  it('refuses the link through a proxy, under another name, without its token, and to a preview', async () => {
    for (const headers of [{ 'x-forwarded-for': '127.0.0.1' }, { forwarded: 'for=_x' }, { host: 'archivist.example' }])
      expect([headers, (await ask(link, headers)).status]).toEqual([headers, 403]);
    expect((await ask(`${link}x`)).status).toBe(403);
    expect((await ask(link, {}, 'HEAD')).status).toBe(403);
  });

  it.skipIf(!chromiumPath)('ends in a page with evidence in it, which verifies, with the file beside it', async () => {
    const rig = await pageRig();
    try {
      const open = await rig.open(link);
      const { page } = open;
      page.setDefaultTimeout(60_000);
      await page.getByText('Signed in as First owner').waitFor();
      expect(new URL(page.url()).search).toBe('');
      await open.give(join(dataDir, 'demo-files', 'call-transcribed.vcon.json'));
      await page.getByRole('link', { name: 'Enhanced' }).first().click();
      const events = page.locator('.timeline h3');
      await events.filter({ hasText: 'A party redacted' }).waitFor();
      // The change of consent is of the same capture as the enhancement: either may arrive first.
      const [first, ...sameCapture] = (await events.allTextContents()).slice(0, 3);
      expect([first, ...sameCapture.sort()]).toEqual(['Created', 'Consent given', 'Enhanced']);
      await page.getByRole('button', { name: 'Check the evidence' }).click();
      await open.trust(/^Root key: (\S+)/m.exec(program.written.out)![1]!);
      await page.locator('.banner.verified').waitFor();
      await page.getByText('call-transcribed.vcon.json is the file').waitFor();
      await page.getByRole('link', { name: 'Compliance', exact: true }).click();
      const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text });
      await rowOf('Request 18').getByRole('link').waitFor();
      expect(await rowOf('Request 17').count()).toBe(0);
      await page.getByRole('link', { name: 'Security audit' }).click();
      await rowOf('access policy create').filter({ hasText: 'Auditors read all conversations' }).waitFor();
      await page.goto(/^Demo: a public asset.*: (\S+)/m.exec(program.written.out)![1]!);
      await page.getByRole('heading', { name: 'How we record calls' }).waitFor();
      await page.getByRole('button', { name: 'Check this asset' }).click();
      await page.locator('.banner.verified').waitFor();
      await page.goto(new URL('/console', link).href);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      await open.close();
    } finally {
      await rig.close();
    }
    expect((await ask(link)).status).toBe(403);
  });

  it('offers no link behind a proxy, and a second start keeps the demo as it is', async () => {
    const files = readFileSync(join(dataDir, 'credentials.json'));
    await stop(program);
    const started = await start({ TRUST_PROXY: '1' }, ['--demo']);
    expect(LINK.exec(started.written.out)).toBeNull();
    expect((await ask(`http://127.0.0.1:${environment['PORT']}/console/first-look?token=x`)).status).toBe(404);
    await stop(started);
    expect(readFileSync(join(dataDir, 'credentials.json')).equals(files)).toBe(true);
  });

  it('fills no folder of a service that is no demo', async () => {
    rmSync(join(dataDir, 'demo-files'), { recursive: true });
    const refused = startBuilt('main', environment, ['--demo']);
    expect(await refused.ended).toBe(2);
    expect(refused.written.err).toContain('has a service that is no demo');
  });
});
