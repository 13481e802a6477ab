import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { chromiumPath } from '../support/chromium.js';
import { type OpenPage, pageRig } from './page-rig.js';

/** As Chromium sends it. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';
const WORDS = 'No resource has this path: /docs lists all paths.';

let rig: PeopleRig;
beforeAll(async () => {
  rig = await startPeopleRig();
});
afterAll(() => rig?.close());

describe('a path that no resource has', () => {
  const ask = (accept?: string) => rig.running.anonymous.get('/consle', accept === undefined ? {} : { accept });

  it('is a page for browsers and JSON for everybody else, with the same status and words, and caches keep them apart', async () => {
    for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9']) {
      const { status, headers, json } = await ask(accept);
      expect([accept, status, headers.get('vary'), json]).toEqual([
        accept,
        404,
        'accept',
        { error: 'not_found', description: WORDS },
      ]);
    }
    const { status, headers, bytes } = await ask(BROWSER);
    expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([
      404,
      'text/html; charset=utf-8',
      'accept',
    ]);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    const page = new TextDecoder().decode(bytes);
    expect(page).toContain(WORDS);
    expect([...page.matchAll(/<a href="([^"]+)"/g)].map(([, to]) => to)).toEqual(['console', 'verify', 'docs']);
  });

  it('has an icon that its policy allows, so that a browser looks for none and reports nothing', async () => {
    const { headers, bytes } = await ask(BROWSER);
    expect(new TextDecoder().decode(bytes)).toContain('<link rel="icon" href="data:,">');
    expect(headers.get('content-security-policy')).toContain('img-src data:');
  });

  it('is JSON for a program that posts, whatever it accepts', async () => {
    const reply = await fetch(`${rig.url}/consle`, { method: 'POST', headers: { accept: BROWSER } });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json']);
  });
});

describe('a damaged link to the sign-in', () => {
  it.each([
    ['an invite without its token', '/console/accept-invite', 400, 'token'],
    ['a callback of no tenancy', '/console/callback/x', 404, 'tenancy'],
  ])('is refused by a page that leads to the sign-in: %s', async (...row) => {
    const [, path, status, words] = row;
    const { headers, bytes, ...answer } = await rig.running.anonymous.get(path, { accept: BROWSER });
    expect([answer.status, headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    const page = new TextDecoder().decode(bytes);
    expect(page).toContain(`${words}: `);
    expect(new URL(/<a href="([^"]+)"/.exec(page)![1]!, `${rig.url}${path}`).pathname).toBe('/console/sign-in');
  });
});

describe('an address that has a page, of something that does not exist', () => {
  const UNKNOWN = '/archivist/v2/publicassets/0190a8c0-0000-7000-8000-000000000bad';

  it.each([
    ['unknown', UNKNOWN, 404],
    ['mistyped', '/archivist/v2/publicassets/0190a8c0', 404],
  ])('is a page for browsers and JSON for everybody else, with the same status and words: %s', async (...row) => {
    const [, path, status] = row;
    const program = await rig.running.anonymous.get(path);
    expect([program.status, program.headers.get('vary'), Object.keys(program.json)]).toEqual([
      status,
      'accept',
      ['error', 'description'],
    ]);
    const browser = await rig.running.anonymous.get(path, { accept: BROWSER });
    expect([browser.status, browser.headers.get('content-type'), browser.headers.get('vary')]).toEqual([
      status,
      'text/html; charset=utf-8',
      'accept',
    ]);
    const page = new TextDecoder().decode(browser.bytes);
    expect(page).toContain(String(program.json['description']));
    expect(page).toContain('Check the address that you opened.');
  });

  it('is JSON where the address has no page, whatever the client accepts', async () => {
    const { status, headers } = await rig.running.anonymous.get(`${UNKNOWN}/events/${UNKNOWN.split('/').at(-1)}`, {
      accept: BROWSER,
    });
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json']);
  });
});

describe.skipIf(!chromiumPath)('small pages in a browser', { timeout: 180_000 }, () => {
  let pages: Awaited<ReturnType<typeof pageRig>>;
  beforeAll(async () => {
    pages = await pageRig();
  });
  afterAll(() => pages?.close());

  it('the first page, 320 pixels wide, names each part of the service in an unbroken word', async () => {
    const open = await pages.open(`${rig.url}/`, { viewport: { width: 320, height: 640 } });
    const lines = `[...document.querySelectorAll('th')].map((name) => {
      const text = document.createRange();
      text.selectNodeContents(name);
      return text.getClientRects().length;
    })`;
    const found: number[] = await open.page.evaluate(lines);
    expect(found.length).toBeGreaterThan(5);
    expect(new Set(found)).toEqual(new Set([1]));
    expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await open.close();
  });

  const signIn = async ({ page }: OpenPage, account: string) => {
    await page.locator('input[name=login]').fill(account);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
  };

  it.each([
    ['an unknown path', '/consle', 'Not found', WORDS, async () => {}],
    [
      'a first-look link that was used or has expired',
      '/console/first-look?token=x',
      'Not signed in',
      'was used or has expired',
      async () => {},
    ],
    ['a callback without its beginning', '/console/callback?code=x', 'Not signed in', 'Sign in again', async () => {}],
    [
      'an unknown organisation',
      '/console/sign-in?tenancy=nobody',
      'Sign in',
      'No tenancy with this domain or id',
      async () => {},
    ],
    [
      'a sign-in that is cancelled at the provider',
      '/console/sign-in',
      'Not signed in',
      'You cancelled this sign-in',
      async ({ page }: OpenPage) => {
        await page.getByRole('link', { name: /cancel/i }).click();
      },
    ],
    [
      'an account that is deactivated',
      '/console/sign-in',
      'Not signed in',
      'Ask an Owner of your organisation to activate it',
      async (open: OpenPage) => {
        const { identity } = await rig.join('leaver');
        await rig.owner.post(`/archivist/iam/v1/${identity}:deactivate`, undefined);
        await signIn(open, 'leaver');
        await open.page.locator('button[type=submit]').click();
      },
    ],
  ] as const)('%s: says what is wrong and where to go on, without a barrier, in both themes', async (...row) => {
    const [name, path, title, words, act] = row;
    const open = await pages.open(`${rig.url}${path}`, { colorScheme: 'dark', viewport: { width: 1000, height: 600 } });
    await act(open);
    await open.page.getByRole('heading', { name: title }).waitFor();
    expect(await open.page.locator('main').textContent()).toContain(words);
    expect(await open.page.locator('main').locator('a, button').count()).toBeGreaterThan(0);
    // The policy allows the style: the page has its width.
    expect(await open.page.evaluate('getComputedStyle(document.body).maxWidth')).toBe('640px');
    for (const colorScheme of ['dark', 'light'] as const) {
      await open.page.emulateMedia({ colorScheme });
      expect([name, colorScheme, await open.barriers()]).toEqual([name, colorScheme, []]);
      await open.picture(`small-${name.replaceAll(' ', '-')}`);
    }
    await open.close();
  });
});
