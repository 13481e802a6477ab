import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { template } from '../api/test-service.js';
import { chromiumPath } from '../support/prerequisites.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';
import type { OpenPage } from './page-rig.js';

const FORMULA = '=HYPERLINK("https://evil.example","the call")';
const ARABIC = 'مكالمة بلا اسم (2)';
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
      const cells = (name: string) => row(name).getByRole('cell').allTextContents();
      expect((await cells('Complaints are answered')).slice(2, 4)).toEqual(['3', '1']);
      expect((await cells('Calls name their agent')).slice(2, 4)).toEqual(['3', '1']);
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
      await table(page, 'What is outstanding').getByRole('link', { name: 'HYPERLINK' }).click();
      await page.getByText('Not compliant').waitFor();
      await page.getByText('with the correlation value "2"').waitFor();
      await page.locator('.timeline li').filter({ hasText: '"complaint"' }).waitFor();
      await page.getByRole('button', { name: 'Check the evidence' }).waitFor();
    }));

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
