import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { chromiumPath } from '../support/chromium.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';

const SUBJECT = 'vcon://0192e8f5-0000-7000-8000-0000000000a1';
/** More than the page asks for first. */
const EVENTS = 130;
const LIST = '/archivist/v2/assets/-/events?';

let rig: PeopleRig;
let session: string;

beforeAll(async () => {
  rig = await startPeopleRig();
  const { json } = await rig.owner.post('/archivist/v2/assets', { attributes: { subject: SUBJECT } });
  const events = Array.from({ length: EVENTS }, (_, number) => ({
    asset_identity: json['identity'],
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { subject: SUBJECT, arc_display_type: `step ${number + 1}` },
  }));
  const { status } = await rig.owner.post('/archivist/v2/assets/-/events:bulk', { events });
  expect(status).toBe(200);
  session = await sessionOf(rig, 'chief', ['OWNER']);
}, 120_000);
afterAll(() => rig?.close());

describe.skipIf(!chromiumPath)('a conversation of many events', { timeout: 180_000 }, () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await consoleBrowser(rig.url);
  });
  afterAll(() => browser?.close());

  const found = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const titles = (page: Page) => page.locator('.timeline h3').allTextContents();
  const steps = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, place) => `step ${first + place}`);
  const LATER = /page_token=/;
  /** Opens a place of the console, and tells the lists of events that it asks for. */
  const visit = (
    query: string,
    check: (page: Page, lists: string[]) => Promise<void>,
    later?: (route: Route) => void,
  ) =>
    browser.visit(
      async (_, page) => {
        const lists: string[] = [];
        await found(page, 'Nothing was found');
        page.on('request', (request) => request.url().includes(LIST) && lists.push(request.url()));
        if (later) await page.route(LATER, later);
        await page.goto(`${rig.url}/console?${query}`);
        await check(page, lists);
      },
      { session, query: '?q=nothing', refused: /status of (404|503)/ },
    );

  it('shows its newest events while it reads the others, and then all of them, the oldest first', () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    return visit(
      `conversation=${SUBJECT}`,
      async (page, lists) => {
        await found(page, 'The newest 100 events. Others are being read');
        expect(await titles(page)).toEqual(steps(EVENTS - 99, EVENTS));
        // A check is about all of its events.
        expect(await page.getByRole('button', { name: 'Check the evidence' }).count()).toBe(0);
        release();
        await found(page, `${EVENTS} events`);
        expect(await titles(page)).toEqual(steps(1, EVENTS));
        await page.getByRole('button', { name: 'Check the evidence' }).waitFor();
        expect(lists).toHaveLength(2);
      },
      (route) => void released.then(() => route.continue()),
    );
  });

  it('keeps what it has shown when the others cannot be read, says why, and tries again', () =>
    visit(
      `conversation=${SUBJECT}`,
      async (page) => {
        await page.getByRole('alert').filter({ hasText: 'Try again in a moment' }).waitFor();
        await found(page, 'Only the newest 100 events are shown');
        expect(await titles(page)).toEqual(steps(EVENTS - 99, EVENTS));
        await page.unroute(LATER);
        await page.getByRole('button', { name: 'Try again' }).click();
        await found(page, `${EVENTS} events`);
        expect(await titles(page)).toEqual(steps(1, EVENTS));
        expect(await page.getByRole('alert').count()).toBe(0);
      },
      (route) => void route.fulfill({ status: 503, body: '' }),
    ));

  it('is asked for page by page: a search reads no further than it shows', () =>
    visit(`q=${SUBJECT}`, async (page, lists) => {
      await found(page, 'The newest 25 events');
      await page.waitForLoadState('networkidle');
      expect(lists).toHaveLength(1);
      await page.getByRole('button', { name: 'Show more' }).click();
      await found(page, 'The newest 50 events');
      expect(lists).toHaveLength(2);
    }));
});
