import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { requestToken } from '../api/test-service.js';
import { chromiumPath } from '../support/prerequisites.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';
import type { OpenPage } from './page-rig.js';

let rig: PeopleRig;
let session: string;
let sessionOfReader: string;

const tokenOf = (id: string, secret: string) =>
  requestToken(rig.url, { grant_type: 'client_credentials', client_id: id, client_secret: secret });

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

  it.each(['applications', 'people', 'audit', 'service'])('hide %s from a person without the role', (view) =>
    visit(
      view,
      async (_, page) => {
        await page.getByText('This page is for Owners.').waitFor();
        expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Find', 'Compliance']);
      },
      { session: sessionOfReader },
    ),
  );

  it.each(
    ['applications', 'people', 'audit', 'service'].flatMap((view) => [
      [view, 'light', 1000] as const,
      [view, 'dark', 320] as const,
    ]),
  )('have no barrier that axe finds: %s in %s colours and %i pixels wide', (view, colorScheme, width) =>
    visit(
      view,
      async (open, page) => {
        await page.getByRole('table').first().waitFor();
        expect(await open.barriers()).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await open.picture(view);
      },
      { colorScheme, width },
    ),
  );
});
