import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { requestToken, template, until } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { type Engine, engines } from '../support/engines.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf, type Visit } from './console-rig.js';
import { type OpenPage, pageRig } from './page-rig.js';

const UUID = '0192e8f5-0000-7000-8000-0000000000d1';
const SUBJECT = `vcon://${UUID}`;
const VCON = `{"uuid": "${UUID}", "vcon": "0.3.0", "parties": [], "dialog": []}`;
const TAMPERED = 'vcon://0192e8f5-0000-7000-8000-0000000000d2';

/** What the stories need, recorded over the interface. */
interface Recorded {
  /** The asset of the conversation. */
  readonly asset: string;
  /** The first event of the conversation. */
  readonly created: string;
  readonly publicAsset: string;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function record(rig: PeopleRig): Promise<Recorded> {
  const post = async (path: string, body: object): Promise<string> => {
    const { status, json } = await rig.owner.post(path, body);
    if (status !== 200) throw new Error(String(json['description']));
    return String(json['identity']);
  };
  const make = (attributes: object, more: object = {}) => post('/archivist/v2/assets', { attributes, ...more });
  const happen = (asset: string, subject: string, type: string, more: object = {}, changes: object = {}) =>
    post(`/archivist/v2/${asset}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: template(subject, { arc_display_type: type, vcon_operation: type, ...more }),
      asset_attributes: changes,
    });
  await post('/archivist/v1/compliance_policies', {
    compliance_type: 'COMPLIANCE_CURRENT_OUTSTANDING',
    display_name: 'Complaints are answered',
    asset_filter: [{ or: ['attributes.arc_display_type=vcon'] }],
    event_display_type: 'complaint',
    closing_event_display_type: 'answer',
  });
  const asset = await make({ subject: SUBJECT, arc_display_name: 'The call of Monday', arc_display_type: 'vcon' });
  const own = { vcon_history: SUBJECT, payload: sha256(VCON) };
  const created = await happen(asset, SUBJECT, 'vcon_created', own);
  await happen(asset, SUBJECT, 'vcon_consent_accepted', own);
  for (let number = 0; number < 26; number += 1) await happen(asset, `vcon://other-${number}`, 'vcon_sent');
  await happen(asset, 'vcon://elsewhere', 'complaint', { conserver_chain: 'night%20shift', partner: 'acme' });
  const other = await make({ subject: TAMPERED, arc_display_name: 'The other call' });
  await happen(other, TAMPERED, 'vcon_consent_accepted');
  const publicAsset = await make({ arc_display_name: 'The published call' }, { public: true });
  const last = await happen(publicAsset, 'vcon://published', 'vcon_redacted', {}, { state: 'redacted' });
  for (const address of [`/archivist/v2/public${last}/receipt`, `/archivist/v2/${last}/evidence`])
    await until(
      () => rig.owner.get(address),
      ({ status }) => status === 200,
      60_000,
    );
  return { asset, created, publicAsset };
}

const found = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
const check = (page: Page) => page.getByRole('button', { name: 'Check the evidence' }).click();
const row = (page: Page, table: string, name: string): Locator =>
  page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });

/** The stories in which the database matters: what is searched, listed, streamed, judged, changed and proven. */
describe.skipIf(!chromiumPath).each(engines())('a person’s stories on %s', { timeout: 180_000 }, (engine: Engine) => {
  let rig: PeopleRig;
  let recorded: Recorded;
  let session: string;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    // The embedded engine comes with the queue of a program without settings.
    rig = await startPeopleRig(engine.name === 'PostgreSQL' ? {} : { REDIS_URL: '' }, engine);
    expect(rig.running.service.parts.database.engine).toBe(engine.name);
    recorded = await record(rig);
    session = await sessionOf(rig, 'chief', ['OWNER']);
    browser = await consoleBrowser(rig.url);
  });
  afterAll(async () => {
    await browser?.close();
    await rig?.close();
  });
  const visit = (story: (open: OpenPage, page: Page) => Promise<void>, wanted: Visit = {}) =>
    browser.visit(story, { session, ...wanted });

  it('find events by id, hash, name, labels and filters, and read pages until the last one', () =>
    visit(async (_, page) => {
      await found(page, 'The newest 25 events');
      for (const [typed, count] of [
        [UUID, /^2 events/],
        [sha256(VCON), /^2 events/],
        ['The published call', /^2 events/],
        [`vcon_operation=vcon_created subject=${SUBJECT}`, /^1 event,/],
        ['arc_display_name=The published call', /^2 events/],
        ['arc_display_name=The call of Monday subject=vcon://nobody', 'Nothing was found'],
        ['nothing-of-this-name', 'Nothing was found'],
        [recorded.asset, 'The newest 25 events'],
      ] as const) {
        await page.getByRole('searchbox').fill(typed);
        await page.waitForURL((url) => url.searchParams.get('q') === typed);
        await found(page, count);
      }
      await page.getByRole('button', { name: 'Show more' }).click();
      await found(page, /^30 events/);
      await page.goto(`${rig.url}/console?chain=night+shift&partner=acme&status=CONFIRMED&since=2020-01-01`);
      await found(page, /^1 event,/);
    }));

  it('drop a file, see its conversation, and check it with the file', () =>
    visit(async (open, page) => {
      await open.give(browser.file('call.vcon.json', VCON));
      await page.getByText('Events about call.vcon.json').waitFor();
      await found(page, /^2 events/);
      await page.getByRole('link', { name: 'Consent given' }).click();
      await found(page, '2 events');
      await check(page);
      await open.trust(rig.running.service.rootFingerprint);
      await page.locator('.banner.verified').waitFor();
      await page.getByText('call.vcon.json is the file').waitFor();
    }));

  it('see refused what somebody changed in the database, until it is changed back', () =>
    visit(
      async (open, page) => {
        const setOperation = async (operation: string, title: string) => {
          await rig.running.asOwner(
            `UPDATE archivist.asset_event
             SET event_attributes = jsonb_set(event_attributes, '{vcon_operation}', '"${operation}"')
             WHERE event_attributes->>'subject' = '${TAMPERED}'`,
          );
          await page.reload();
          await page.locator('.timeline h3').filter({ hasText: title }).waitFor();
          await check(page);
          await open.trust(rig.running.service.rootFingerprint);
        };
        await setOperation('vcon_consent_revoked', 'Consent revoked');
        await page.locator('.banner.refused').waitFor();
        await page.locator('.refusals').getByText('event.json').first().waitFor();
        await setOperation('vcon_consent_accepted', 'Consent given');
        await page.locator('.banner.verified').waitFor();
      },
      { query: `?conversation=${TAMPERED}` },
    ));

  it('are told by the stream that an event has its receipt', () =>
    visit(
      async (_, page) => {
        await found(page, '2 events');
        // As it is for a moment after each event was recorded.
        const unfinished = async (route: Route) => {
          const body = (await (await route.fetch()).text()).replaceAll(/CONFIRMED|UNEQUIVOCAL/g, 'STORED');
          await route.fulfill({ body, contentType: 'application/json' });
        };
        await page.route('**/assets/-/events?**', unfinished);
        const isShown = page.getByText('stored; the log has not taken it in yet').first();
        await page.route('**/events/stream', async (route) => {
          await isShown.waitFor();
          await page.unroute('**/assets/-/events?**', unfinished);
          await route.continue();
        });
        await page.reload();
        await page.getByText('in the log, under its seal').first().waitFor();
        await isShown.waitFor({ state: 'hidden' });
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('see what is outstanding under a policy, and lead from it to the asset and its events', () =>
    visit(
      async (_, page) => {
        await row(page, 'What is outstanding', 'The call of Monday').getByRole('link').click();
        await page.getByText('Not compliant').waitFor();
        await page.getByRole('link', { name: 'Complaints are answered' }).waitFor();
        await page.locator('.timeline li').filter({ hasText: '"complaint"' }).waitFor();
      },
      { query: '?view=compliance' },
    ));

  it('see an asset as it was after an event, by keyboard only', () =>
    visit(
      async (open, page) => {
        const attributes = page.locator('dl.card').filter({ hasText: 'arc_display_name' });
        await attributes.filter({ hasText: 'redacted' }).waitFor();
        const [then] = await page.getByRole('link', { name: 'The asset after this event' }).all();
        await then!.focus();
        await page.keyboard.press('Enter');
        await page.getByText('The asset as it was at').waitFor();
        expect(await open.focused()).toContain('Asset ');
        await found(page, '1 event');
        expect(await attributes.textContent()).not.toContain('redacted');
        expect(await open.barriers()).toEqual([]);
        await open.picture('asset-in-console-then');
        await check(page);
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
        await page.getByRole('link', { name: 'See the asset as it is now' }).click();
        await found(page, '2 events');
        await attributes.filter({ hasText: 'redacted' }).waitFor();
      },
      { query: `?asset=${recorded.publicAsset.slice('assets/'.length)}` },
    ));

  it('come from a conversation or an asset to its public page, and copy its address', () =>
    visit(
      async (open, page) => {
        const address = `${rig.url}/archivist/v2/public${recorded.publicAsset}`;
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        for (const [place, picture] of [
          ['conversation=vcon://published', 'conversation-public'],
          [`asset=${recorded.publicAsset.slice('assets/'.length)}`, 'asset-in-console'],
        ]) {
          await page.goto(`${rig.url}/console?${place}`);
          const link = page.getByRole('link', { name: 'Open the public page of “The published call”' });
          await link.waitFor();
          await page.evaluate("navigator.clipboard.writeText('')");
          await page.getByRole('button', { name: 'Copy the address' }).click();
          await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
          expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address);
          expect(await open.barriers()).toEqual([]);
          await open.picture(picture!);
        }
        await page.getByRole('link', { name: /^Open the public page/ }).click();
        await page.getByRole('heading', { name: 'The published call', level: 1 }).waitFor();
        await page.goto(`${rig.url}/console?conversation=${SUBJECT}`);
        await found(page, '2 events');
        await page.waitForLoadState('networkidle');
        expect(await page.getByText('Public page').count()).toBe(0);
      },
      { query: '?conversation=vcon://published' },
    ));

  it('check a public asset without an account', async () => {
    const visitor = await pageRig();
    try {
      const open = await visitor.open(`${rig.url}/archivist/v2/public${recorded.publicAsset}`);
      await open.page.getByRole('button', { name: 'Check this asset' }).click();
      await open.trust(rig.running.service.rootFingerprint);
      await open.page.locator('.banner.verified').waitFor();
      await open.close();
    } finally {
      await visitor.close();
    }
  });

  it('make an application, try and save a policy for it, and find both in the audit, which verifies', () =>
    visit(
      async (open, page) => {
        await page.getByLabel('Name').fill('Reporting');
        await page.getByRole('button', { name: 'Create' }).click();
        const card = page.getByRole('alert').filter({ hasText: 'Secret of' });
        await card.waitFor();
        const [id, secret] = await card.locator('code').allTextContents();
        const form = { grant_type: 'client_credentials', client_id: id!, client_secret: secret! };
        expect((await requestToken(rig.url, form)).status).toBe(200);
        await page.getByRole('link', { name: 'Access' }).click();
        await page.getByRole('button', { name: 'New policy' }).click();
        await page.getByLabel('Name').fill('Reporting reads calls');
        await page.getByLabel('For whom').fill(`subject=${id}`);
        await page.getByLabel('Person, application or organisation').selectOption({ label: 'Reporting' });
        await page.getByText('This policy names Reporting, for 2 of the newest 3 assets').waitFor();
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Reporting reads calls was saved').waitFor();
        await page.getByRole('link', { name: 'Audit' }).click();
        await row(page, 'Entries', 'access policy create').first().waitFor();
        await row(page, 'Entries', 'application create').first().getByRole('link', { name: 'See the entry' }).click();
        await check(page);
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
      },
      { query: '?view=applications' },
    ));

  it('save the evidence of an event, verify it with the page from a disk, and refuse it with another file', () =>
    visit(
      async (_, page) => {
        const save = page.getByRole('button', { name: 'Save the evidence: Created' });
        const [download] = await Promise.all([page.waitForEvent('download'), save.click()]);
        expect(recorded.created).toContain(download.suggestedFilename().replace('.zip', ''));
        const disk = await pageRig();
        try {
          const open = await disk.open();
          await open.give(disk.file('evidence.zip', readFileSync(await download.path())));
          await open.trust(rig.running.service.rootFingerprint);
          await open.page.locator('.banner.verified').waitFor();
          await open.give(disk.file('other.json', VCON.replace('0.3.0', '0.3.1')));
          await open.page.locator('.banner.refused').waitFor();
          expect(open.complaints).toEqual([]);
          await open.close();
        } finally {
          await disk.close();
        }
      },
      { query: `?conversation=${SUBJECT}` },
    ));
});
