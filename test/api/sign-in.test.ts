import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../faults/journal.js';
import { holdLock } from '../support/hold-lock.js';
import { startOpenidProvider, type TestProvider } from '../support/openid-provider.js';
import { serverUrl } from '../support/prerequisites.js';
import { type TestBrowser, testBrowser } from '../support/test-browser.js';
import { type PeopleRig, startPeopleRig, trust } from './people-rig.js';
import { sendRequest } from './send-request.js';
import type { Client } from './test-service.js';

const ASSETS = '/archivist/v2/assets';
const SIGN_IN = '/console/sign-in';

const clock = { offMs: 0, now: () => Date.now() + clock.offMs };
let rig: PeopleRig;
let tenant: string;
let otherOwner: Client;
let otherTenant: string;
let other: TestProvider;
beforeAll(async () => {
  rig = await startPeopleRig({}, undefined, clock);
  otherOwner = await rig.running.client({ roles: ['OWNER'], otherTenancy: true });
  other = await startOpenidProvider([`${rig.url}/console/callback`]);
  tenant = await tenancyOf(rig.owner);
  otherTenant = await tenancyOf(otherOwner);
  await rig.join('alice');
});
afterAll(async () => {
  await rig?.close();
  await other?.close();
});

const tenancyOf = async (owner: Client) =>
  String((await owner.get('/archivist/v1/tenancies/self')).json['identity']).slice('tenancies/'.length);
const signedIn = async (account: string): Promise<TestBrowser> => {
  const browser = testBrowser();
  const page = await browser.open(`${rig.url}${SIGN_IN}?tenancy=${tenant}`, account);
  expect(page.status, page.text).toBe(200);
  return browser;
};
const statusOf = async (browser: TestBrowser, init: RequestInit = {}) =>
  (await browser.ask(`${rig.url}${ASSETS}`, init)).status;
const sessionOf = (browser: TestBrowser) => /archivist-session=([^;]+)/.exec(browser.cookies(rig.url))?.[1];

describe('signing in', () => {
  it('at the provider of the tenancy opens a session', async () => {
    const browser = testBrowser();
    const page = await browser.open(`${rig.url}${SIGN_IN}?return_to=/console?tab=calls`, 'alice');
    expect([page.status, page.url]).toEqual([200, `${rig.url}/console?tab=calls`]);
    const { text } = await browser.ask(`${rig.url}/archivist/iam/v1/principal`);
    expect(JSON.parse(text)).toEqual({
      tenant_identity: `tenant/${tenant}`,
      kind: 'member',
      issuer: rig.provider.issuer,
      subject: 'alice',
      display_name: 'Name of alice',
      email: 'alice@example.com',
      roles: [],
    });
    expect(await statusOf(browser)).toBe(200);
  });

  it('sends the browser off with PKCE, a state and a nonce, and keeps them out of its reach', async () => {
    const page = await testBrowser().ask(`${rig.url}${SIGN_IN}?tenancy=${tenant}`);
    const query = new URL(page.headers.get('location')!).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${rig.url}/console/callback`,
      state: expect.stringMatching(/.{20}/),
      nonce: expect.stringMatching(/.{20}/),
    });
    const [cookie] = page.headers.getSetCookie();
    expect(cookie).toMatch(/^archivist-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    expect(Buffer.from(/=([\w-]+)/.exec(cookie!)![1]!, 'base64url').toString()).not.toContain(query.get('state'));
  });

  it('is for members: whoever nobody has invited stays outside', async () => {
    rig.provider.accounts.set('eve', { email: 'eve@example.com', email_verified: true });
    const browser = testBrowser();
    const page = await browser.open(`${rig.url}${SIGN_IN}`, 'eve');
    expect([page.status, sessionOf(browser), await statusOf(browser)]).toEqual([403, undefined, 401]);
    expect(page.text).toContain('must invite you');
  });

  it('needs an address that is verified today, not only when he joined', async () => {
    await rig.join('fred');
    rig.provider.accounts.set('fred', { email: 'fred@example.com', email_verified: false });
    expect((await testBrowser().open(`${rig.url}${SIGN_IN}`, 'fred')).status).toBe(403);
  });

  it('returns to the console and to no other place', async () => {
    const places = [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/console\\@evil.example',
      'javascript:alert(1)',
      '/consolevil',
      '/console\r\nset-cookie: a=b',
      `${rig.url}.evil.example/console`,
      'x'.repeat(3000),
    ];
    for (const place of places) {
      const page = await testBrowser().open(`${rig.url}${SIGN_IN}?return_to=${encodeURIComponent(place)}`, 'alice');
      expect([place, page.url]).toEqual([place, `${rig.url}/console`]);
    }
  });

  it('asks which tenancy when there are several, keeps where to return, and knows the tenancy by its UUID', async () => {
    await trust(rig.running, otherOwner, other);
    const page = await testBrowser().ask(`${rig.url}${SIGN_IN}?return_to=/console%3Fq=%22a%22`);
    expect([page.status, page.text.includes('name="tenancy"')]).toEqual([200, true]);
    expect(page.text).toContain('<input type="hidden" name="return_to" value="/console?q=&#34;a&#34;">');
    const chosen = await testBrowser().ask(`${rig.url}${SIGN_IN}?tenancy=${otherTenant}`);
    expect(chosen.headers.get('location')).toContain(other.issuer);
    const unknown = await testBrowser().ask(`${rig.url}${SIGN_IN}?tenancy=%3Cscript%3E`);
    expect([unknown.status, unknown.text.includes('<script>')]).toEqual([200, false]);
  });
});

describe('the callback', () => {
  /** Everything up to the callback, which is not made. */
  async function begun(account: string): Promise<{ browser: TestBrowser; callback: string }> {
    const browser = testBrowser();
    let page = await browser.ask(`${rig.url}${SIGN_IN}?tenancy=${tenant}`);
    for (;;) {
      const location = page.headers.get('location');
      const target = location === null ? undefined : new URL(location, page.url).href;
      if (target?.startsWith(`${rig.url}/console/callback`)) return { browser, callback: target };
      const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1] ?? '';
      const body = new URLSearchParams({ prompt, login: account, password: 'x' });
      page = target
        ? await browser.ask(target)
        : await browser.ask(new URL(action!, page.url).href, { method: 'POST', body });
    }
  }

  it('is refused while the clock is wrong, and good when it is right again', async () => {
    const { browser, callback } = await begun('alice');
    clock.offMs = -3_600_000;
    try {
      const page = await browser.ask(callback);
      expect([page.status, sessionOf(browser)]).toEqual([503, undefined]);
      expect((await testBrowser().ask(`${rig.url}${SIGN_IN}?tenancy=${tenant}`)).status).toBe(503);
    } finally {
      clock.offMs = 0;
    }
    // The database's clock is looked at every five seconds.
    const page = await until(
      () => browser.ask(callback),
      ({ status }) => status !== 503,
    );
    expect(page.status).toBe(302);
    expect(await statusOf(browser)).toBe(200);
  });

  it('is good once, and in the browser that began', async () => {
    const { browser, callback } = await begun('alice');
    const elsewhere = testBrowser();
    expect([(await elsewhere.ask(callback)).status, sessionOf(elsewhere)]).toEqual([400, undefined]);
    expect((await browser.ask(callback)).status).toBe(302);
    expect((await browser.ask(callback)).status).toBe(400);
  });

  it('of a sign-in that somebody else began gives him nothing', async () => {
    const mine = await begun('alice');
    const victim = testBrowser();
    await victim.ask(`${rig.url}${SIGN_IN}?tenancy=${tenant}`);
    expect([(await victim.ask(mine.callback)).status, sessionOf(victim)]).toEqual([400, undefined]);
  });

  it('with a changed state, code or issuer is refused', async () => {
    for (const [name, value] of [
      ['state', 'another'],
      ['code', 'another'],
      ['iss', other.issuer],
    ] as const) {
      const { browser, callback } = await begun('alice');
      const url = new URL(callback);
      url.searchParams.set(name, value);
      expect([name, (await browser.ask(url.href)).status, sessionOf(browser)]).toEqual([name, 400, undefined]);
    }
    const { browser } = await begun('alice');
    expect((await browser.ask(`${rig.url}/console/callback?error=access_denied`)).status).toBe(400);
  });

  it('is refused when the tenancy has changed its provider meanwhile', async () => {
    const { browser, callback } = await begun('alice');
    await trust(rig.running, rig.owner, other);
    expect((await browser.ask(callback)).status).toBe(400);
    await trust(rig.running, rig.owner, rig.provider);
  });

  it.skipIf(!serverUrl)('opens no session that a change of the provider at the same moment does not end', async () => {
    const { browser, callback } = await begun('alice');
    const lock = await holdLock(
      rig.running.environment['DATABASE_URL']!,
      'SELECT FROM archivist.tenancy WHERE tenant_id = $1 FOR NO KEY UPDATE',
      [tenant],
    );
    const changed = trust(rig.running, rig.owner, rig.provider, { audience: 'another' });
    await expect.poll(() => lock.waiting()).toBe(1);
    const admitted = browser.ask(callback);
    await expect.poll(() => lock.waiting()).toBe(2);
    await lock.release();
    await changed;
    expect([(await admitted).status, await statusOf(browser)]).toEqual([400, 401]);
    await trust(rig.running, rig.owner, rig.provider);
  });
});

describe('a session', () => {
  it('is a cookie that no script reads and no other site sends along', async () => {
    const browser = testBrowser();
    await browser.open(`${rig.url}${SIGN_IN}?tenancy=${tenant}`, 'alice');
    const token = sessionOf(browser)!;
    expect(Buffer.from(token, 'base64url').length).toBe(32);
    const rows = await rig.running.service.parts.database.inTransaction('system', (tx) =>
      tx.query('SELECT s::text AS all FROM archivist.member_session s'),
    );
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('reads for pages of our own, and for nobody else', async () => {
    const browser = await signedIn('alice');
    for (const site of ['cross-site', 'same-site'])
      expect([site, await statusOf(browser, { headers: { 'sec-fetch-site': site } })]).toEqual([site, 401]);
    for (const site of ['same-origin', 'none'])
      expect([site, await statusOf(browser, { headers: { 'sec-fetch-site': site } })]).toEqual([site, 200]);
    expect(await statusOf(browser, { headers: { authorization: 'Bearer x' } })).toBe(401);
  });

  it('changes something only for a page of our own that says that it means to', async () => {
    const browser = await signedIn('alice');
    const post = (headers: Record<string, string>) =>
      statusOf(browser, {
        method: 'POST',
        body: '{"attributes":{}}',
        headers: { 'content-type': 'application/json', ...headers },
      });
    const ours = { origin: rig.url, 'archivist-session': 'write' };
    expect([await post(ours), await post({ ...ours, 'sec-fetch-site': 'same-origin' })]).toEqual([200, 200]);
    const attempts: Record<string, string>[] = [
      {},
      { origin: rig.url },
      { origin: rig.url, 'sec-fetch-site': 'same-origin' },
      { 'archivist-session': 'write' },
      { ...ours, 'archivist-session': 'read' },
      ...['https://evil.example', 'null', `${rig.url}.evil.example`, 'http://127.0.0.1:1'].map((origin) => ({
        ...ours,
        origin,
      })),
      ...['cross-site', 'same-site', 'none'].map((site) => ({ ...ours, 'sec-fetch-site': site })),
    ];
    for (const headers of attempts) expect([headers, await post(headers)]).toEqual([headers, 401]);
    const preflight = await fetch(`${rig.url}${ASSETS}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-headers': 'archivist-session' },
    });
    expect(preflight.headers.get('access-control-allow-headers') ?? '').not.toContain('archivist-session');
  });

  it('is new at each sign-in: one that was planted before stays nobody’s', async () => {
    const planted = 'A'.repeat(43);
    const browser = testBrowser();
    browser.plant(rig.url, `archivist-session=${planted}`);
    await browser.open(`${rig.url}${SIGN_IN}?tenancy=${tenant}`, 'alice');
    expect(sessionOf(browser)).not.toBe(planted);
    const first = sessionOf(browser);
    await browser.open(`${rig.url}${SIGN_IN}?tenancy=${tenant}`, 'alice');
    expect(sessionOf(browser)).not.toBe(first);
    const attacker = testBrowser();
    attacker.plant(rig.url, `archivist-session=${planted}`);
    expect(await statusOf(attacker)).toBe(401);
  });

  it('ends by signing out, and no other site signs anybody out', async () => {
    const browser = await signedIn('alice');
    const thief = testBrowser();
    thief.plant(rig.url, `archivist-session=${sessionOf(browser)}`);
    const signOut = (headers: Record<string, string>) =>
      browser.ask(`${rig.url}/console/sign-out`, { method: 'POST', headers });
    expect((await signOut({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signOut({ origin: 'https://evil.example' })).status).toBe(403);
    expect(await statusOf(thief)).toBe(200);
    expect((await signOut({ origin: rig.url, 'sec-fetch-site': 'same-origin' })).status).toBe(302);
    expect([sessionOf(browser), await statusOf(browser), await statusOf(thief)]).toEqual([undefined, 401, 401]);
  });

  it('ends everywhere when the person wants that, and other people stay signed in', async () => {
    await rig.join('bob');
    const [here, there, other] = [await signedIn('alice'), await signedIn('alice'), await signedIn('bob')];
    const headers = { origin: rig.url, 'sec-fetch-site': 'same-origin' };
    const signOut = (url: string) => here.ask(rig.url + url, { method: 'POST', headers });
    expect((await signOut('/console/sign-out?everywhere=true')).status).toBe(302);
    expect([await statusOf(here), await statusOf(there), await statusOf(other)]).toEqual([401, 401, 200]);
  });

  it('ends an hour after its last use, and use keeps it', async () => {
    const unused = (browser: TestBrowser, minutes: number) =>
      rig.running
        .asOwner(`UPDATE archivist.member_session SET used_at = now() - interval '${minutes} minutes'`)
        .then(() => statusOf(browser));
    const browser = await signedIn('alice');
    expect([await unused(browser, 59), await statusOf(browser)]).toEqual([200, 200]);
    const [row] = await rig.running.service.parts.database.inTransaction('system', (tx) =>
      tx.query<{ fresh: boolean }>(
        `SELECT bool_or(used_at > now() - interval '30 minutes') AS fresh FROM archivist.member_session`,
      ),
    );
    expect(row?.fresh).toBe(true);
    expect(await unused(browser, 61)).toBe(401);
  });

  it('ends when it expires, when the tenancy is disabled, and when it has another provider', async () => {
    const browser = await signedIn('alice');
    await rig.running.asOwner(`UPDATE archivist.tenancy SET disabled_at = now() WHERE tenant_id = '${tenant}'`);
    expect(await statusOf(browser)).toBe(401);
    await rig.running.asOwner('UPDATE archivist.tenancy SET disabled_at = NULL');
    // Each process reads once in a while which tenancies are disabled.
    await until(
      () => statusOf(browser),
      (status) => status === 200,
    );
    await rig.running.asOwner(`UPDATE archivist.member_session SET expires_at = now() - interval '1 s'`);
    expect(await statusOf(browser)).toBe(401);
    const again = await signedIn('alice');
    expect(await statusOf(again)).toBe(200);
    const { json: record } = await rig.owner.get('/archivist/v1/tenancies/self');
    expect(
      (await sendRequest(rig.running.url, rig.owner, 'PATCH', '/archivist/v1/tenancies/self', record)).json,
    ).toEqual(record);
    expect(await statusOf(again), 'the record that was read changes nothing').toBe(200);
    await trust(rig.running, rig.owner, other);
    expect(await statusOf(again)).toBe(401);
    await trust(rig.running, rig.owner, rig.provider);
    expect(await statusOf(again)).toBe(401);
  });
});
