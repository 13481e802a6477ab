import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService, template, until } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { type OpenPage, pageRig } from './page-rig.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const HOSTILE = '<b onclick="alert(1)">Call</b>';

let running: TestService;
let address: string;
beforeAll(async () => {
  running = await startTestService();
  const post = async (path: string, body: object) => String((await running.owner.post(path, body)).json['identity']);
  const asset = await post('/archivist/v2/assets', {
    public: true,
    attributes: { arc_display_name: HOSTILE, kind: 'call' },
  });
  const event = await post(`/archivist/v2/${asset}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://0192e8f5-0000-7000-8000-0000000000e1', { vcon_operation: 'vcon_redacted' }),
    asset_attributes: { state: 'redacted' },
  });
  address = `/archivist/v2/public${asset}`;
  const receipt = () => running.anonymous.get(`/archivist/v2/public${event}/receipt`);
  await until(receipt, ({ status }) => status === 200, 60_000);
});
afterAll(() => running?.close());

describe('the address of a public asset', () => {
  const ask = (accept?: string) => running.anonymous.get(address, accept === undefined ? {} : { accept });

  it('is a page for a browser, and JSON for every other client', async () => {
    const page = await ask(BROWSER);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; .*connect-src 'self'.*frame-ancestors 'none'$/,
    );
    const java = [
      'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
      'text/html, image/gif, image/jpeg, */*; q=0.2',
    ];
    for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9', ...java]) {
      const { headers, json } = await ask(accept);
      expect([accept, headers.get('content-type'), json['identity']]).toEqual([
        accept,
        'application/json',
        address.replace('/archivist/v2/', ''),
      ]);
    }
  });

  it('tells caches that the answer depends on what was accepted', async () => {
    for (const accept of [BROWSER, 'application/json'])
      expect((await ask(accept)).headers.get('vary')?.split(', ')).toContain('accept');
  });

  it('refuses an asset that is not there to a browser too', async () => {
    const gone = address.replace(/.{4}$/, '0000');
    expect((await running.anonymous.get(gone, { accept: BROWSER })).status).toBe(404);
  });
});

describe.skipIf(!chromiumPath)('the page of a public asset', { timeout: 120_000 }, () => {
  let rig: Awaited<ReturnType<typeof pageRig>>;
  beforeAll(async () => {
    rig = await pageRig();
  });
  afterAll(() => rig?.close());

  const inPage = async (
    check: (open: OpenPage) => Promise<void>,
    colorScheme: 'light' | 'dark' = 'light',
    /** Requests with these statuses are what the test is about. */
    refused?: RegExp,
  ) => {
    const open = await rig.open(running.url + address, { colorScheme });
    try {
      await open.page.getByRole('heading', { name: 'History' }).waitFor();
      await check(open);
      const complaints = open.complaints.filter((each) => !each.startsWith(running.url) && !refused?.test(each));
      expect(complaints).toEqual([]);
    } finally {
      await open.close();
    }
  };
  const press = (open: OpenPage) => open.page.getByRole('button', { name: 'Check this asset' }).click();

  it('shows its history without an account, with hostile texts as text', () =>
    inPage(async ({ page }) => {
      expect(await page.locator('h1').textContent()).toBe(HOSTILE);
      expect(await page.locator('#page b').count()).toBe(0);
      expect(await page.locator('.operation h3').allTextContents()).toEqual(['Redacted', 'Asset created']);
    }));

  it('shows its attributes on paper, and nothing to press', () =>
    inPage(async ({ page }) => {
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('dl.card').isVisible()).toBe(true);
      expect(await page.getByRole('button').count()).toBe(0);
    }));

  it('shows what the asset was after an event, and leads back to what it is now', () =>
    inPage(async ({ page, barriers, picture }) => {
      const attributes = page.locator('dl.card');
      // An attribute of somebody else cannot look like this one.
      expect(await attributes.textContent()).toContain('Name (arc_display_name)');
      expect(await attributes.textContent()).toContain('redacted');
      await page.getByRole('link', { name: 'The asset after this event' }).last().click();
      await page.getByRole('heading', { name: 'Attributes then' }).waitFor();
      await page.getByText('The asset as it was at').waitFor();
      expect(await attributes.textContent()).not.toContain('redacted');
      expect(await page.locator('.operation h3').allTextContents()).toEqual(['Asset created']);
      expect(await barriers()).toEqual([]);
      await picture('asset-then');
      await page.getByRole('button', { name: 'Check this asset' }).click();
      await page.locator('.banner h2').waitFor();
      await page.getByText('not this past state').waitFor();
      await page.getByRole('link', { name: 'See the asset as it is now' }).click();
      await page.getByText('2 events, the newest first').waitFor();
      expect(await attributes.textContent()).toContain('redacted');
    }));

  it('says why it shows nothing, and asks again', () =>
    inPage(
      async ({ page, barriers }) => {
        await page.goto(`${running.url}${address}?at_time=yesterday`);
        await page.getByText('at_time: must be an RFC 3339 time').waitFor();
        await page.route('**/publicassets/**', (route) =>
          route.request().resourceType() === 'fetch' ? route.fulfill({ status: 503, body: '' }) : route.continue(),
        );
        await page.goto(running.url + address);
        await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
        expect(await barriers()).toEqual([]);
        await page.unroute('**/publicassets/**');
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByRole('heading', { name: 'History' }).waitFor();
      },
      'light',
      /status of (?:400|503)/,
    ));

  it('checks nothing while the service does not answer, says so, and checks when it is asked again', () =>
    inPage(
      async (open) => {
        await open.page.route('**/keys/manifest', (route) => route.abort());
        await press(open);
        expect(await open.outcome()).toBe('No answer');
        expect(await open.page.getByText('was not checked yet').count()).toBe(1);
        await open.page.unroute('**/keys/manifest');
        await press(open);
        await open.page.getByRole('heading', { name: 'Not verified yet' }).waitFor();
      },
      'light',
      /ERR_FAILED/,
    ));

  it('checks it in the browser, and verifies it only under the reader’s fingerprint', () =>
    inPage(async (open) => {
      await press(open);
      expect(await open.outcome()).toBe('Not verified yet');
      await open.trust(running.service.rootFingerprint);
      await open.page.locator('.banner.verified').waitFor();
      expect(await open.verdict()).toMatchObject({
        outcome: 'verified',
        claims: [{ kind: 'public_asset', facts: { attributes: { state: 'redacted' }, events: 2 } }],
      });
    }));

  it('shows no verdict and says that nothing was checked while the fingerprint cannot be read', () =>
    inPage(async (open) => {
      await press(open);
      expect(await open.outcome()).toBe('Not verified yet');
      await open.page.getByLabel('Root fingerprint').fill('no fingerprint');
      await open.page.getByText('Not checked: an entry above cannot be read').waitFor();
      expect(await open.page.locator('.banner').count()).toBe(0);
      await open.page.getByLabel('Root fingerprint').fill(running.service.rootFingerprint);
      await open.page.locator('.banner.verified').waitFor();
      expect(await open.page.getByText('Not checked').count()).toBe(0);
    }));

  it('leaves the focus where the reader types when the answer comes', () =>
    inPage(async (open) => {
      await press(open);
      await open.page.getByLabel('Root fingerprint').focus();
      await open.page.keyboard.insertText(running.service.rootFingerprint);
      await open.page.locator('.banner.verified').waitFor();
      expect(await open.focused()).toBe('Root fingerprint of the operator');
    }));

  it.each([
    ['an attribute', `**${'/publicassets/*'}`, '"redacted"', '"original"'],
    ['an event', '**/publicassets/*/events', 'vcon_redacted', 'vcon_created_'],
  ])('refuses %s that the service changed', (_, url, from, to) =>
    inPage(async (open) => {
      await open.page.route(url, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replaceAll(from, to) });
      });
      await press(open);
      await open.trust(running.service.rootFingerprint);
      await open.page.locator('.banner.refused').waitFor();
    }),
  );

  it.each(['light', 'dark'] as const)('has no barrier that axe finds, in %s colours', (colorScheme) =>
    inPage(async (open) => {
      expect(await open.barriers()).toEqual([]);
      await press(open);
      await open.trust(running.service.rootFingerprint);
      await open.page.locator('.banner.verified').waitFor();
      await open.picture('asset');
      for (const details of await open.page.locator('details').all())
        await details.evaluate((element) => element.setAttribute('open', ''));
      expect(await open.barriers()).toEqual([]);
    }, colorScheme),
  );
});
