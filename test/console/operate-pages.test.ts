import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { requestToken } from '../api/test-service.js';
import { chromiumPath } from '../support/prerequisites.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';
import type { OpenPage } from './page-rig.js';

const VIEWS = ['applications', 'access', 'people', 'audit', 'service'];

let rig: PeopleRig;
let session: string;
let sessionOfReader: string;

const tokenOf = (id: string, secret: string) =>
  requestToken(rig.url, { grant_type: 'client_credentials', client_id: id, client_secret: secret });

/** How many assets the reader sees, by the reader's own sign-in. */
async function assetsOfReader(): Promise<number> {
  const headers = { cookie: `archivist-session=${sessionOfReader}` };
  const answer = await fetch(`${rig.url}/archivist/v2/assets`, { headers });
  return ((await answer.json()) as { assets: unknown[] }).assets.length;
}

beforeAll(async () => {
  rig = await startPeopleRig();
  session = await sessionOf(rig, 'chief', ['OWNER']);
  sessionOfReader = await sessionOf(rig, 'reader');
  await rig.invite('invited@example.com');
}, 120_000);
afterAll(() => rig?.close());

describe.skipIf(!chromiumPath)('the pages for Owners', { timeout: 180_000 }, () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await consoleBrowser(rig.url);
  });
  afterAll(() => browser?.close());
  const visit = (view: string, check: (open: OpenPage, page: Page) => Promise<void>, more: object = {}) =>
    browser.visit(check, { session, query: `?view=${view}`, ...more });
  const row = (page: Page, table: string, name: string) =>
    page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });
  /** Presses a button of a row, and confirms it in the dialog. */
  const confirm = async (page: Page, table: string, name: string, button: string) => {
    await row(page, table, name).getByRole('button', { name: button }).click();
    await page.getByRole('dialog').getByRole('button', { name: button }).click();
  };

  it('make an application, show its secret once, replace it, and delete the application', () =>
    visit('applications', async (_, page) => {
      await page.getByLabel('Name').fill('The <b>recorder</b>');
      await page.getByRole('button', { name: 'Create' }).click();
      const card = page.getByRole('alert').filter({ hasText: 'Secret of' });
      await card.waitFor();
      const [id, first] = await card.locator('code').allTextContents();
      expect((await tokenOf(id!, first!)).status).toBe(200);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await row(page, 'Applications', 'The <b>recorder</b>').waitFor();
      expect(await page.locator('#page b').count()).toBe(0);
      const { json } = await rig.owner.get('/archivist/v1/security_events?action=application.create&page_size=1');
      const [entry] = json['security_events'] as { attributes: { actor: { display_name: string } } }[];
      expect(entry?.attributes.actor.display_name).toBe('Name of chief');
      await confirm(page, 'Applications', 'recorder', 'New secret');
      await card.waitFor();
      const second = (await card.locator('code').allTextContents())[1]!;
      expect((await tokenOf(id!, first!)).status).toBe(401);
      expect((await tokenOf(id!, second)).status).toBe(200);
      await confirm(page, 'Applications', 'recorder', 'Delete');
      await page.getByText('was deleted').waitFor();
      expect((await tokenOf(id!, second)).status).toBe(401);
    }));

  it('change nothing when the reader cancels, and give the focus back', () =>
    visit('applications', async (_, page) => {
      const button = page.getByRole('table').getByRole('button', { name: 'Delete' }).first();
      await button.waitFor();
      const count = await page.getByRole('table').getByRole('row').count();
      await button.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
      await page.reload();
      await button.waitFor();
      expect(await page.getByRole('table').getByRole('row').count()).toBe(count);
    }));

  it('change nothing after the person has signed out in another tab, and say so', async () => {
    const own = await sessionOf(rig, 'leaver', ['OWNER']);
    await visit(
      'applications',
      async (_, page) => {
        await page.getByRole('table').waitFor();
        const other = await page.context().newPage();
        await other.goto(`${rig.url}/console`);
        await other.getByRole('button', { name: 'Sign out', exact: true }).click();
        await other.getByRole('heading', { name: 'You are not signed in' }).waitFor();
        await page.getByLabel('Name').fill('Too late');
        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByRole('alert').filter({ hasText: 'Your sign-in has ended' }).waitFor();
        const { json } = await rig.owner.get('/archivist/iam/v1/applications');
        expect(JSON.stringify(json)).not.toContain('Too late');
      },
      { session: own },
    );
  });

  it('say why the service refuses a change', () =>
    visit('people', async (_, page) => {
      await confirm(page, 'Members', 'chief@example.com', 'Deactivate');
      await page.getByRole('alert').filter({ hasText: /\S/ }).waitFor();
      await row(page, 'Members', 'chief@example.com').filter({ hasText: 'active' }).waitFor();
    }));

  it('invite people, withdraw an invite, make somebody an Owner and take that away', () =>
    visit('people', async (_, page) => {
      await page.getByLabel('E-mail').fill('new@example.com');
      await page.getByRole('button', { name: 'Send the invite' }).click();
      await page.getByText('The invite for new@example.com was sent').waitFor();
      expect(rig.mails.at(-1)!.to).toEqual(['new@example.com']);
      await confirm(page, 'Invites that are not accepted', 'new@example.com', 'Withdraw');
      await row(page, 'Invites that are not accepted', 'new@example.com').waitFor({ state: 'detached' });
      await confirm(page, 'Members', 'reader@example.com', 'Make Owner');
      await row(page, 'Members', 'reader@example.com').getByRole('button', { name: 'Take Owner away' }).waitFor();
      await confirm(page, 'Members', 'reader@example.com', 'Take Owner away');
      await row(page, 'Members', 'reader@example.com').getByRole('button', { name: 'Make Owner' }).waitFor();
    }));

  it('try an access policy for a person before it is saved, and what they say then holds', () =>
    visit('access', async (_, page) => {
      const call = { attributes: { arc_display_name: 'A <b>call</b>', arc_display_type: 'call' } };
      for (const asset of [call, call, { attributes: { arc_display_type: 'letter' } }])
        expect((await rig.owner.post('/archivist/v2/assets', asset)).status).toBe(200);
      await page.getByRole('button', { name: 'New policy' }).click();
      await page.getByLabel('Name').fill('Readers read calls');
      await page.getByLabel('Which assets').fill('arc_display_type=call');
      await page.locator('form .fault').waitFor();
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
      await page.getByLabel('Which assets').fill('attributes.arc_display_type=call');
      await page.getByLabel('For whom').fill('group:nobody or email=reader@example.com');
      await page
        .getByText('the group nobody or reader@example.com may read all attributes and read all events.')
        .waitFor();
      await page.getByLabel('Person or application').selectOption({ label: 'Name of chief' });
      await page.getByText('This policy does not name Name of chief').waitFor();
      await page.getByLabel('Person or application').selectOption({ label: 'Name of reader' });
      await page.getByText('This policy names Name of reader, for 2 of the newest 3 assets').waitFor();
      expect(await page.locator('#page b').count()).toBe(0);
      expect(await assetsOfReader()).toBe(0);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Readers read calls was saved').waitFor();
      expect(await assetsOfReader()).toBe(2);
      const policy = page
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading', { name: 'Readers read calls' }) });
      await policy.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Which assets').fill('attributes.arc_display_type=letter');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await policy.getByText('On assets with arc_display_type “letter”').waitFor();
      expect(await assetsOfReader()).toBe(1);
      await policy.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await policy.waitFor({ state: 'detached' });
      expect(await assetsOfReader()).toBe(0);
    }));

  it('leave a policy that the form cannot write to the API', () =>
    visit('access', async (_, page) => {
      const permission = { user_attributes: [{ or: ['group:a'] }], asset_attributes_read: ['*'] };
      const body = { display_name: 'Two permissions', filters: [], access_permissions: [permission, permission] };
      expect((await rig.owner.post('/archivist/iam/v1/access_policies', body)).status).toBe(200);
      await page.reload();
      const policy = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Two permissions' }) });
      await policy.getByText('Change it with the API').waitFor();
      expect(await policy.getByRole('button', { name: 'Change' }).count()).toBe(0);
    }));

  it('show the security audit, and lead from an entry to its proof', () =>
    visit('audit', async (open, page) => {
      await row(page, 'Entries', 'invite create').first().getByRole('link', { name: 'See the entry' }).click();
      await page.getByRole('button', { name: 'Check the evidence' }).click();
      await open.trust(rig.running.service.rootFingerprint);
      await page.locator('.banner.verified').waitFor();
    }));

  it('show the health of the parts, and what to do about a halted log', () => {
    const check = async (_: OpenPage, page: Page) => {
      await page.getByText('The service takes requests').waitFor();
      await row(page, 'Parts', 'Queue').filter({ hasText: 'ok' }).waitFor();
      await page.route('**/readyz', (route) =>
        route.fulfill({
          status: 503,
          json: { ready: false, checks: { logs: '1 HALTED' }, halted_logs: [{ log: '<b>log</b>', kind: 'tenancy' }] },
        }),
      );
      await page.reload();
      await page.getByText('The service does not take requests now').waitFor();
      await row(page, 'Halted logs', '<b>log</b>').waitFor();
      await page.getByText('vcon-archivist logs resume').waitFor();
    };
    return visit('service', check, { refused: /status of 503/ });
  });

  it.each(VIEWS)('hide %s from a person without the role', (view) =>
    visit(
      view,
      async (_, page) => {
        await page.getByText('This page is for Owners.').waitFor();
        expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Find', 'Compliance']);
      },
      { session: sessionOfReader },
    ),
  );

  it.each(VIEWS.flatMap((view) => [[view, 'light', 1000] as const, [view, 'dark', 320] as const]))(
    'have no barrier that axe finds: %s in %s colours and %i pixels wide',
    (view, colorScheme, width) =>
      visit(
        view,
        async (open, page) => {
          if (view === 'access') await page.getByRole('button', { name: 'New policy' }).click();
          if (view === 'access') await page.getByLabel('Person or application').waitFor();
          else await page.getByRole('table').first().waitFor();
          expect(await open.barriers()).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
          await open.picture(view);
        },
        { colorScheme, width },
      ),
  );
});
