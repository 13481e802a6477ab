import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkIn, type PeopleRig, startPeopleRig, trust } from '../api/people-rig.js';
import { sendRequest } from '../api/send-request.js';
import type { Client } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { startOpenidProvider, type TestProvider } from '../support/openid-provider.js';
import { type Page, type TestBrowser, testBrowser } from '../support/test-browser.js';
import { PLAIN_HOST, pageRig } from './page-rig.js';

let rig: PeopleRig;
let stranger: Client;
let strangers: TestProvider;
let alice: TestBrowser;
let own: string;
let other: string;

const tenancyOf = async (owner: Client) =>
  String((await owner.get('/archivist/v1/tenancies/self')).json['identity']).slice('tenancies/'.length);
const enable = (enabled: boolean) =>
  sendRequest(rig.url, stranger, 'PATCH', '/archivist/v1/tenancies/self', { enterprise_sso_enabled: enabled });

beforeAll(async () => {
  rig = await startPeopleRig();
  stranger = await rig.running.client({ roles: ['OWNER'], otherTenancy: true });
  [own, other] = await Promise.all([tenancyOf(rig.owner), tenancyOf(stranger)]);
  strangers = await startOpenidProvider([`${rig.url}/console/callback`]);
  ({ browser: alice } = await rig.join('alice'));
  await trust(rig.running, stranger, strangers);
});
afterAll(async () => {
  await rig?.close();
  await strangers?.close();
});

/** What happens to a request: it goes on to a provider, or the person is asked. */
const outcome = ({ status, text, headers }: Page): string => {
  const location = headers.get('location');
  if (location !== null) return new URL(location).origin;
  return status === 200 && text.includes('Sign in to this tenancy?') && headers.getSetCookie().length === 0
    ? 'asked'
    : `${status} ${text}`;
};
const open = async (browser: TestBrowser, path: string, headers: Record<string, string> = {}) =>
  outcome(await browser.ask(`${rig.url}${path}`, { headers }));
/** Where the button of a page leads. */
const buttonOf = ({ text, url }: Page): string => {
  const leads = new URL(/<form method="get" action="([^"]+)"/.exec(text)![1]!, url);
  for (const [, name, value] of text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g))
    leads.searchParams.set(name!, value!);
  return leads.href;
};
const site = (name: string) => ({ 'sec-fetch-site': name });

describe('a link to sign in at a tenancy', () => {
  it.each(['cross-site', 'same-site'])('asks everybody first if a %s page opened it', async (from) => {
    for (const browser of [alice, testBrowser()])
      for (const tenancy of [own, other]) {
        const page = await browser.ask(`${rig.url}/console/sign-in?tenancy=${tenancy}`, { headers: site(from) });
        expect(outcome(page)).toBe('asked');
        expect(page.text).toContain(tenancy);
      }
  });

  it('goes on by the button, with the place to return to', async () => {
    const place = '/console/events?subject="><b>';
    const link = `${rig.url}/console/sign-in?tenancy=${other}&return_to=${encodeURIComponent(place)}`;
    const page = await alice.ask(link, { headers: site('cross-site') });
    expect(page.text).not.toContain('<b>');
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    const leads = buttonOf(page).replaceAll('&#34;', '"').replaceAll('&#62;', '>').replaceAll('&#60;', '<');
    expect(outcome(await alice.ask(leads, { headers: site('same-origin') }))).toBe(strangers.issuer);
  });

  it('that a person types, or opens from a mail program, asks those who are signed in elsewhere', async () => {
    for (const headers of [site('none'), {}]) {
      expect(await open(alice, `/console/sign-in?tenancy=${other}`, headers)).toBe('asked');
      expect(await open(alice, `/console/sign-in?tenancy=${own}`, headers)).toBe(rig.provider.issuer);
      expect(await open(testBrowser(), `/console/sign-in?tenancy=${other}`, headers)).toBe(strangers.issuer);
    }
  });

  it('goes on from a page of the console, also in a browser that does not say so by Fetch Metadata', async () => {
    const path = `/console/sign-in?tenancy=${other}`;
    for (const headers of [site('same-origin'), { referer: `${rig.url}/console/sign-in` }])
      expect(await open(alice, path, headers)).toBe(strangers.issuer);
    for (const headers of [{ referer: `${rig.url}.evil.example/` }, { ...site('none'), referer: `${rig.url}/` }])
      expect(await open(alice, path, headers)).toBe('asked');
  });

  it('goes on from everywhere while there is only one tenancy to sign in to', async () => {
    await enable(false);
    expect(await open(alice, '/console/sign-in', site('cross-site'))).toBe(rig.provider.issuer);
    await enable(true);
  });
});

describe('the link of an invite', () => {
  it('goes on from a mail program, and asks on the page of another site, or those who are signed in elsewhere', async () => {
    const { status } = await stranger.post('/archivist/iam/v1/invites', { email: 'mallory@example.com' });
    expect(status).toBe(200);
    const link = linkIn(rig.mails.at(-1)!.text).slice(rig.url.length);
    expect(await open(testBrowser(), link, site('none'))).toBe(strangers.issuer);
    expect(await open(alice, link, site('none'))).toBe('asked');
    const page = await testBrowser().ask(`${rig.url}${link}`, { headers: site('cross-site') });
    expect([outcome(page), page.text.includes(other)]).toEqual(['asked', true]);
    expect(buttonOf(page)).toBe(`${rig.url}${link}`);
    expect(await open(testBrowser(), link, site('same-origin'))).toBe(strangers.issuer);
  });
});

describe.skipIf(!chromiumPath)('in a browser, a link of another site', { timeout: 180_000 }, () => {
  let evil: Server;
  let pages: Awaited<ReturnType<typeof pageRig>>;
  beforeAll(async () => {
    pages = await pageRig();
    evil = createServer((_, answer) =>
      answer
        .setHeader('content-type', 'text/html')
        .end(`<a href="${rig.url}/console/sign-in?tenancy=${other}&amp;return_to=/console">A picture</a>`),
    );
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await pages?.close();
    evil?.close();
  });

  it('asks, without a barrier, and one click leads to the provider', async () => {
    const opened = await pages.open(`http://${PLAIN_HOST}:${(evil.address() as AddressInfo).port}/`);
    const { page } = opened;
    await page.getByRole('link').click();
    await page.getByRole('heading', { name: 'Sign in to this tenancy?' }).waitFor();
    expect(await opened.barriers()).toEqual([]);
    await opened.picture('small-sign-in-question');
    await page.getByRole('button').click();
    await page.waitForURL(`${strangers.issuer}/**`);
    await opened.close();
  });
});
