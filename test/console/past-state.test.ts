import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { chromiumPath } from '../support/chromium.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';

/** More than a page of the console shows. */
const LATER = 2_001;
const AT_ONCE = 1_000;

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
});
