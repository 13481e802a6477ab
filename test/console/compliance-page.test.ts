import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compliancePolicySchema } from '../../src/archivist/compliance/compliance-policy.js';
import { type CheckedAsset, outstandingAt } from '../../src/console/compliance.js';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { template } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';
import type { OpenPage } from './page-rig.js';

const FORMULA = '=HYPERLINK("https://evil.example","the call")';
const ARABIC = 'مكالمة بلا اسم (2)';
const BUSY = 'The call with five complaints';
const QUERY = '?view=compliance';

let rig: PeopleRig;
let session: string;

async function post(path: string, body: object): Promise<string> {
  const { status, json } = await rig.owner.post(path, body);
  if (status !== 200) throw new Error(String(json['description']));
  return String(json['identity']);
}

const call = (name: string, more: object = {}) =>
  post('/archivist/v2/assets', { attributes: { arc_display_name: name, arc_display_type: 'call', ...more } });

const record = (asset: string, type: string, correlation: string) =>
  post(`/archivist/v2/${asset}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://a-call', { arc_display_type: type, arc_correlation_value: correlation }),
  });

/** Its first complaint is not answered; enough others are, after it, that one step does not read all of them. */
async function busyCall(): Promise<void> {
  const busy = await call(BUSY, { agent: 'Ada' });
  await record(busy, 'complaint', 'first');
  for (const each of ['a', 'b', 'c', 'd']) {
    await record(busy, 'complaint', each);
    await record(busy, 'answer', each);
  }
}

const CALLS = [{ or: ['attributes.arc_display_type=call'] }];
const COMPLAINTS = {
  compliance_type: 'COMPLIANCE_CURRENT_OUTSTANDING',
  display_name: 'Complaints are answered',
  asset_filter: CALLS,
  event_display_type: 'complaint',
  closing_event_display_type: 'answer',
};

beforeAll(async () => {
  rig = await startPeopleRig();
  await post('/archivist/v1/compliance_policies', COMPLAINTS);
  await post('/archivist/v1/compliance_policies', {
    compliance_type: 'COMPLIANCE_RICHNESS',
    display_name: 'Calls name their agent',
    asset_filter: CALLS,
    richness_assertions: [{ or: ['agent!='] }],
  });
  const answered = await call('The answered call', { agent: 'Ada' });
  await record(answered, 'complaint', '1');
  await record(answered, 'answer', '1');
  const waiting = await call(FORMULA, { agent: 'Ada' });
  await record(waiting, 'complaint', '2');
  await call(ARABIC);
  session = await sessionOf(rig, 'chief', ['OWNER']);
}, 120_000);
afterAll(() => rig?.close());

it('counts an asset once at each moment, under however many policies it is outstanding', () => {
  const policies = ['complaint', 'question'].map((type) => ({
    ...compliancePolicySchema.parse({ ...COMPLAINTS, event_display_type: type }),
    identity: `compliance_policies/${type}`,
  }));
  const event = (displayType: string, acceptedAtMs: number) => ({ displayType, correlationValue: '1', acceptedAtMs });
  const asset = (id: string, events: CheckedAsset['events']): CheckedAsset => {
    return { id, name: id, attributes: { arc_display_type: 'call' }, events, createdMs: 1_000 };
  };
  const asked = [event('question', 2_000), event('complaint', 3_000)];
  const assets = [asset('a', asked), asset('b', [...asked, event('answer', 4_000)]), asset('c', [])];
  expect(outstandingAt(policies, assets, [500, 1_500, 2_500, 3_500, 4_500])).toEqual([0, 0, 2, 2, 1]);
});

describe.skipIf(!chromiumPath)('compliance in a browser', { timeout: 180_000 }, () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await consoleBrowser(rig.url);
  });
  afterAll(() => browser?.close());
  const visit = (check: (open: OpenPage, page: Page) => Promise<void>, more: object = {}) =>
    browser.visit(check, { session, query: QUERY, ...more });
  const table = (page: Page, name: string) => page.getByRole('table', { name });
  const saved = async (page: Page, name: string): Promise<string> => {
    const part = page.locator('section', { has: table(page, name) });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      part.getByRole('button', { name: /^Save as CSV/ }).click(),
    ]);
    return readFileSync(await download.path(), 'utf8');
  };

  it('shows each policy with what is outstanding, and says of each asset what the service says', () =>
    visit(async (_, page) => {
      const row = (name: string) => table(page, 'Policies').getByRole('row', { name });
      await row('Complaints are answered').waitFor();
      await page.getByText('Policies about attributes are not counted').waitFor();
      const cells = (name: string) => row(name).getByRole('cell').allTextContents();
      expect((await cells('Complaints are answered')).slice(2, 4)).toEqual(['3', '1']);
      expect((await cells('Calls name their agent')).slice(1, 4)).toEqual([
        'On the asset, “agent” is not empty',
        '3',
        '1',
      ]);
      const verdicts = table(page, 'What is outstanding').getByRole('row');
      await page.getByLabel('Show').selectOption('all');
      for (const each of (await table(page, 'All assets').getByRole('row').all()).slice(1)) {
        const name = await each.getByRole('cell').first().getByRole('link').getAttribute('href');
        const id = new URLSearchParams(name!.slice(name!.indexOf('?'))).get('asset');
        const { json } = await rig.owner.get(`/archivist/v1/compliance/assets/${id}`);
        const reasons = (json['compliance'] as { reason: string }[]).map(({ reason }) => reason);
        expect(reasons).toContain(await each.getByRole('cell').last().textContent());
      }
      await page.getByLabel('Show').selectOption('open');
      expect(await verdicts.count()).toBe(3);
    }));

  it('shows a name from right to left in its own direction, and the page around it from left to right', () =>
    visit(async (_, page) => {
      const name = table(page, 'What is outstanding').getByText(ARABIC);
      expect(await name.evaluate((element) => element.matches(':dir(rtl)'))).toBe(true);
      expect(await table(page, 'What is outstanding').evaluate((element) => element.matches(':dir(ltr)'))).toBe(true);
    }));

  it('leads from a policy to an outstanding asset, the verdict of the service, and its events', () =>
    visit(async (_, page) => {
      await page.getByRole('link', { name: 'Complaints are answered' }).click();
      await page.getByRole('heading', { name: 'Complaints are answered' }).waitFor();
      expect(await table(page, 'What is outstanding').getByRole('row').count()).toBe(2);
      expect(await table(page, 'Over time').getByRole('row').nth(1).getByRole('cell').last().textContent()).toBe('1');
      expect(await page.getByText('Policies about attributes are not counted').count()).toBe(0);
      await table(page, 'What is outstanding').getByRole('link', { name: 'HYPERLINK' }).click();
      await page.getByText('Not compliant').waitFor();
      await page.getByText('with the correlation value "2"').waitFor();
      await page.locator('.timeline li').filter({ hasText: '"complaint"' }).waitFor();
      await page.getByRole('button', { name: 'Check the evidence' }).waitFor();
    }));

  it('shows the verdict of the service over an asset, then and now, and says if it cannot be read', () =>
    visit(
      async (_, page) => {
        await page.getByLabel('Show').selectOption('all');
        await table(page, 'All assets').getByRole('link', { name: 'The answered call' }).first().click();
        await page.getByText('Compliant with every policy that applies').waitFor();
        await page.getByText('Complaints are answered: Compliant.').waitFor();
        await page.locator('.timeline > li').nth(1).getByRole('link').last().click();
        await page.getByRole('heading', { name: 'Compliance then, under the current policies' }).waitFor();
        await page.getByText('Not compliant').waitFor();
        await page.getByText('Complaints are answered: Outstanding.').waitFor();
        let isAway = true;
        await page.route('**/compliance/assets/**', (route) => (isAway ? route.abort() : route.continue()));
        await page.reload();
        await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor();
        isAway = false;
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByText('Not compliant').waitFor();
      },
      { refused: /ERR_FAILED|status of 404/ },
    ));

  it.each([
    ['14 days', 14, '2026-05-30'],
    ['12 weeks', 12, '2026-05-24'],
    ['12 months', 12, '2026-04-30'],
  ])('counts what was outstanding at the end of each of %s in the reader’s zone', (step, count, second) =>
    visit(
      async (_, page) => {
        await page.clock.setFixedTime(new Date('2026-05-31T12:00:00Z'));
        await page.reload();
        await page.getByLabel('Step').selectOption(step);
        const times = table(page, 'Over time').locator('time');
        await expect.poll(() => times.count()).toBe(count);
        const until = (at: number) => times.nth(at).getAttribute('datetime');
        expect([await until(0), await until(1)]).toEqual(['2026-05-31T12:00:00.000Z', `${second}T14:59:59.999Z`]);
      },
      { timezoneId: 'Asia/Tokyo' },
    ),
  );

  it('says of a policy that was deleted that it does not exist, and nothing about assets', () =>
    visit(
      async (_, page) => {
        await page.getByRole('heading', { name: 'The policy of this address does not exist' }).waitFor();
        expect(await page.getByRole('heading', { level: 2 }).count()).toBe(2);
        await page.getByRole('link', { name: 'All policies' }).click();
        await table(page, 'What is outstanding').waitFor();
      },
      { query: `${QUERY}&policy=compliance_policies/0192e8f5-0000-7000-8000-00000000dead` },
    ));

  it('saves what a table shows as CSV in which no cell is a formula', () =>
    visit(async (_, page) => {
      await page.getByRole('link', { name: 'Complaints are answered' }).click();
      await page.getByRole('heading', { name: 'Complaints are answered' }).waitFor();
      const [titles, first] = (await saved(page, 'What is outstanding')).split('\r\n');
      expect(titles).toBe('\ufeffAsset,Since,Verdict,Reason');
      expect(first).toMatch(/^"'=HYPERLINK\(""https:\/\/evil\.example"",""the call""\)",\d{4}-[^,]+Z,Outstanding,/);
    }));

  it.each([
    ['light', 1000],
    ['dark', 1000],
    ['light', 320],
    ['dark', 320],
  ] as const)('has no barrier that axe finds, in %s colours and %i pixels wide', (colorScheme, width) =>
    visit(
      async (open, page) => {
        await table(page, 'What is outstanding').waitFor();
        expect(await open.barriers()).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await open.picture('compliance');
      },
      { colorScheme, width },
    ),
  );
});

describe.skipIf(!chromiumPath)('compliance that is read in steps', { timeout: 180_000 }, () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    await busyCall();
    browser = await consoleBrowser(rig.url);
  });
  afterAll(() => browser?.close());

  const STEP = `${QUERY}&page_size=1`;
  const visit = (check: (open: OpenPage, page: Page) => Promise<void>, more: object = {}) =>
    browser.visit(check, { session, query: STEP, ...more });
  const looked = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const further = (page: Page) => page.getByRole('button', { name: 'Look further back' }).click();
  const complaints = async (page: Page) => {
    const row = page.getByRole('table', { name: 'Policies' }).getByRole('row', { name: 'Complaints are answered' });
    return (await row.getByRole('cell').allTextContents()).slice(2, 4);
  };
  const everyVerdict = async (page: Page) => {
    await page.getByLabel('Show').selectOption('all');
    return page.getByRole('table', { name: 'All assets' }).getByRole('row').allTextContents();
  };

  it('says nothing of an asset before all of its events are read', () =>
    visit(async (_, page) => {
      await looked(page, 'Looked at so far: no asset yet. Events read: 8,');
      await looked(page, '1 more asset is looked at as soon as all of its events are read.');
      expect(await complaints(page)).toEqual(['0', '0']);
      await page.getByText('This policy applies to no asset looked at so far.').waitFor();
      // Whoever reads the numbers on paper has to know it too.
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByText('covers only what was looked at so far').isVisible()).toBe(true);
      await page.emulateMedia({ media: null });
      await further(page);
      await looked(page, 'Looked at so far: the newest asset. Events read: 12,');
      expect(await complaints(page)).toEqual(['1', '1']);
    }));

  it('prints tables with their columns, also on a page that is narrower than a screen with columns', () =>
    visit(
      async (_, page) => {
        await looked(page, 'All assets that you may see were looked at: 4.');
        // A4 between the margins, in CSS pixels.
        await page.setViewportSize({ width: 673, height: 970 });
        const display = () => page.evaluate("getComputedStyle(document.querySelector('.data td')).display");
        expect(await display()).toBe('grid');
        await page.emulateMedia({ media: 'print' });
        expect(await display()).toBe('table-cell');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(673);
      },
      { query: QUERY },
    ));

  it('looks further back as the reader asks, until it shows what one step over everything shows', async () => {
    let whole: string[] = [];
    await visit(
      async (_, page) => {
        await looked(page, 'All assets that you may see were looked at: 4.');
        expect(await page.getByRole('button', { name: 'Look further back' }).count()).toBe(0);
        whole = await everyVerdict(page);
      },
      { query: QUERY },
    );
    expect(whole.length).toBe(9);
    await visit(async (_, page) => {
      for (const text of ['no asset yet', 'the newest asset', 'the newest 2 assets', 'the newest 3 assets']) {
        await looked(page, `Looked at so far: ${text}.`);
        await further(page);
      }
      await looked(page, 'All assets that you may see were looked at: 4.');
      expect(await complaints(page)).toEqual(['4', '2']);
      expect(await everyVerdict(page)).toEqual(whole);
      const over = page.getByRole('table', { name: 'Over time' }).getByRole('row').nth(1).getByRole('cell');
      expect(await over.last().textContent()).toBe('2');
    });
  });

  it('keeps how far it has looked while the reader sees an asset, and looks anew from the navigation', () =>
    visit(async (_, page) => {
      await looked(page, 'no asset yet');
      await further(page);
      await looked(page, 'the newest asset');
      await page.getByRole('link', { name: BUSY }).click();
      await page.getByText('Not compliant').waitFor();
      await page.goBack();
      await looked(page, 'Looked at so far: the newest asset. Events read: 12,');
      await further(page);
      await looked(page, 'the newest 2 assets');
      await page.getByRole('link', { name: 'Find' }).click();
      await page.getByRole('link', { name: 'Compliance' }).click();
      await looked(page, 'All assets that you may see were looked at: 4.');
    }));

  it('names a CSV file by the assets that it covers', () =>
    visit(async (_, page) => {
      await looked(page, 'no asset yet');
      await further(page);
      await looked(page, 'the newest asset');
      await page.getByText('Every number, table and CSV file below covers only what was looked at so far.').waitFor();
      const names = [];
      for (const button of await page.getByRole('button', { name: /^Save as CSV/ }).all()) {
        const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
        names.push(download.suggestedFilename());
      }
      expect(names).toEqual([
        'compliance-policies-newest-1-assets.csv',
        'compliance-newest-1-assets.csv',
        'compliance-over-time-newest-1-assets.csv',
      ]);
    }));

  it('keeps what it shows when a step fails, and goes on from there', () =>
    visit(
      async (_, page) => {
        await looked(page, 'no asset yet');
        await further(page);
        await looked(page, 'the newest asset');
        await page.route('**/archivist/v2/assets?*', (route) => route.abort(), { times: 1 });
        await further(page);
        await page.getByRole('alert').waitFor();
        expect(await complaints(page)).toEqual(['1', '1']);
        await further(page);
        await looked(page, 'the newest 2 assets');
        expect(await page.getByRole('alert').count()).toBe(0);
      },
      { refused: /ERR_FAILED/ },
    ));

  it.each([
    ['light', 1000],
    ['dark', 320],
  ] as const)(
    'has no barrier that axe finds before everything is read, in %s colours and %i pixels wide',
    (colorScheme, width) =>
      visit(
        async (open, page) => {
          await looked(page, 'no asset yet');
          await further(page);
          await looked(page, 'the newest asset');
          expect(await open.barriers()).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
          await open.picture('compliance-in-steps');
        },
        { colorScheme, width },
      ),
  );
});
