import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { chromiumPath } from '../support/chromium.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';

/** More than a page of the console shows. */
const LATER = 2_001;
const AT_ONCE = 1_000;
const SHOTS = process.env['TEST_SCREENSHOTS'];

describe.skipIf(!chromiumPath)('the past state of an asset', () => {
  let rig: PeopleRig;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    rig = await startPeopleRig();
    browser = await consoleBrowser(rig.url);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await rig?.close();
  });

  it('has its events, however many came later', async () => {
    const { json: asset } = await rig.owner.post('/archivist/v2/assets', { attributes: {} });
    const record = async (names: readonly string[]) => {
      const events = names.map((name) => ({
        asset_identity: asset['identity'],
        operation: 'Record',
        behaviour: 'RecordEvidence',
        event_attributes: { arc_display_type: name },
      }));
      const { status } = await rig.owner.post('/archivist/v2/assets/-/events:bulk', { events });
      expect(status).toBe(200);
    };
    await record(['first', 'second']);
    const newest = await rig.owner.get(`/archivist/v2/${asset['identity']}/events?page_size=1`);
    const at = (newest.json['events'] as { timestamp_accepted: string }[])[0]!.timestamp_accepted;
    while (new Date().toISOString() <= at) await new Promise((resolve) => setTimeout(resolve, 1));
    for (let left = LATER; left > 0; left -= AT_ONCE)
      await record(Array.from({ length: Math.min(left, AT_ONCE) }, () => 'later'));
    const id = (asset['identity'] as string).slice('assets/'.length);
    await browser.visit(
      async (_, page) => {
        await page.getByRole('status').filter({ hasText: '3 events' }).waitFor();
        const titles = await page.locator('.timeline h3').allTextContents();
        expect(titles).toEqual(['Asset created', 'first', 'second']);
      },
      { session: await sessionOf(rig, 'chief', ['OWNER']), query: `?${new URLSearchParams({ asset: id, at })}` },
    );
  }, 180_000);

  it('is part of the check, then and now: attributes that the proven events did not make leave it incomplete', async () => {
    const attributes = { arc_display_name: 'A call', state: 'open' };
    const { json: asset } = await rig.owner.post('/archivist/v2/assets', { attributes });
    const identity = asset['identity'] as string;
    const { json: closed } = await rig.owner.post(`/archivist/v2/${identity}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: { arc_display_type: 'Closed' },
      asset_attributes: { state: 'closed' },
    });
    await expect
      .poll(async () => (await rig.owner.get(`/archivist/v2/${closed['identity']}/evidence`)).status, {
        timeout: 30_000,
      })
      .toBe(200);
    const first = await rig.owner.get(`/archivist/v2/${identity}/events?page_size=1&order_by=SIMPLEHASHV1`);
    const created = (first.json['events'] as { timestamp_accepted: string }[])[0]!.timestamp_accepted;
    const id = identity.slice('assets/'.length);
    for (const [at, state] of [
      [undefined, 'closed'],
      [created, 'open'],
    ] as const)
      for (const shown of [state, 'forged'])
        await browser.visit(
          async (open, page) => {
            await page.route(new RegExp(`/v2/assets/${id}(\\?.*)?$`), async (route) => {
              const response = await route.fetch();
              await route.fulfill({ response, body: (await response.text()).replace(`"${state}"`, `"${shown}"`) });
            });
            await page.reload();
            await page.locator('.facts.card').getByText(shown, { exact: true }).waitFor();
            await page.getByRole('button', { name: 'Check the evidence' }).click();
            await open.trust(rig.running.service.rootFingerprint);
            await page.locator(shown === state ? '.banner.verified' : '.banner.incomplete').waitFor();
            const named = page
              .locator('.screen')
              .getByText('the attribute state of the asset is not what its events made of it');
            expect(await named.count()).toBe(shown === state ? 0 : 1);
            const proven = page.locator('.screen .operation').filter({ hasText: 'Organisation' });
            expect(await proven.locator('> h4').allTextContents()).toEqual(
              at === undefined ? ['Asset created', 'Recorded'] : ['Asset created'],
            );
            expect(await proven.locator('> h4 + .facts').allTextContents()).toEqual(
              at === undefined ? ['AssetA call', 'TypeClosed'] : ['AssetA call'],
            );
            await page.emulateMedia({ media: 'print' });
            const printed = await page.locator('body').innerText();
            expect(printed).not.toMatch(/What happened|Attributes|Check the evidence|Outstanding|forged/);
            expect(/Asset .*, as it was at/s.test(printed)).toBe(at !== undefined);
            expect(/^Not proven\n+attributes of the asset: the attribute state/m.test(printed)).toBe(shown !== state);
            if (SHOTS) await page.pdf({ path: `${SHOTS}/asset-${shown}.pdf`, format: 'A4' });
            if (SHOTS) await page.screenshot({ path: `${SHOTS}/asset-${shown}.png`, fullPage: true });
          },
          {
            session: await sessionOf(rig, 'chief', ['OWNER']),
            query: `?${new URLSearchParams({ asset: id, ...(at && { at }) })}`,
          },
        );
  }, 180_000);
});
