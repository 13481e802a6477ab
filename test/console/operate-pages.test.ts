import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { sendRequest } from '../api/send-request.js';
import { requestToken } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf } from './console-rig.js';
import type { OpenPage } from './page-rig.js';

const VIEWS = ['applications', 'access', 'people', 'audit', 'webhooks', 'service'];
/** Nobody listens there. */
const NOWHERE = 'https://127.0.0.1:1/hook';

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
  const hook = { display_name: 'The <b>warehouse</b>', url: NOWHERE, event_types: ['event.confirmed', 'key.changed'] };
  expect((await rig.owner.post('/archivist/iam/v1/webhooks', hook)).status).toBe(200);
  const letter = { job: 'ab'.repeat(32), operation: 'vcon_created', failed_at: '2026-11-22T09:00:00Z' };
  const report = {
    ...{ source: '0192e8f5-0000-7000-8000-00000000aa01', observed_at: '2026-11-22T10:00:00Z' },
    ...{ depth: 4711, oldest_seconds: 62, dead_letters: 1, exact: true, letters: [letter] },
    gaps: [{ day: '2026-11-21', vcons: 17, payloads: ['cd'.repeat(32)] }],
  };
  expect((await rig.owner.post('/archivist/v1/capture_reports', report)).status).toBe(200);
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
  /** Moves the focus to a control as a person without a mouse does; the page may move it elsewhere on the way. */
  const onto = async (page: Page, control: Locator) => {
    await control.waitFor();
    const way = () =>
      control.evaluate((element) => {
        if (element.matches(':focus')) return 'there';
        const position = element.compareDocumentPosition(element.ownerDocument.activeElement ?? element);
        return position & 4 /* DOCUMENT_POSITION_FOLLOWING */ ? 'Shift+Tab' : 'Tab';
      });
    let next = await way();
    for (let steps = 0; steps < 200 && next !== 'there'; steps += 1) {
      await page.keyboard.press(next);
      next = await way();
    }
    expect(next).toBe('there');
  };
  const isInView = (what: Locator): Promise<boolean> =>
    what.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= element.ownerDocument.documentElement.clientHeight;
    });
  const press = async (page: Page, control: Locator, key = 'Enter') => {
    await onto(page, control);
    await page.keyboard.press(key);
  };
  const type = async (page: Page, control: Locator, text: string) => {
    await onto(page, control);
    await page.keyboard.type(text);
  };
  /** Presses a button of a row, and that of its dialog. */
  const pressAndConfirm = async (page: Page, within: Locator, button: string) => {
    await press(page, within.getByRole('button', { name: `${button}: ` }));
    await press(page, page.getByRole('dialog').getByRole('button', { name: button, exact: true }));
  };
  /** What the buttons of rows are called; each is the only one of the page with its name, which begins with its text. */
  const namesOfRows = async (page: Page): Promise<string[]> => {
    const names: string[] = [];
    for (const button of await page.locator('tbody, .operation').getByRole('button').all()) {
      const [text, label] = [await button.innerText(), await button.getAttribute('aria-label')];
      const name = label ?? text;
      expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 1]);
      expect(name.startsWith(`${text}: `)).toBe(true);
      names.push(name);
    }
    return names;
  };
  /** Chooses an entry of a list, one step after the other. */
  const chooseByKeys = async (page: Page, control: Locator, label: string, key = 'ArrowDown') => {
    await onto(page, control);
    const chosen = () => control.locator('option:checked').textContent();
    for (let steps = 0; steps < 30 && (await chosen()) !== label; steps += 1) await page.keyboard.press(key);
    expect(await chosen()).toBe(label);
  };
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

  it.each([
    ['applications', 'Create'],
    ['webhooks', 'Create'],
  ])('keep the secret that was just made if the list cannot be read then: %s', (view, create) =>
    visit(
      view,
      async (_, page) => {
        await page.getByLabel('Name').fill('Kept aside');
        if (view === 'webhooks') {
          await page.getByLabel('Address').fill('https://hooks.example.com');
          await page.getByRole('combobox', { name: 'Application' }).selectOption(`applications/${rig.owner.clientId}`);
          await page.getByLabel('an event is confirmed').check();
        }
        await page.route(`**/${view}?**`, (route) => route.abort());
        await page.getByRole('button', { name: create, exact: true }).click();
        await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor();
        expect(await page.getByRole('alert').filter({ hasText: 'Secret of Kept aside' }).count()).toBe(1);
        await page.unroute(`**/${view}?**`);
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByRole('button', { name: 'I have stored it' }).click();
        await pressAndConfirm(page, page.getByRole('row').filter({ hasText: 'Kept aside' }), 'Delete');
        await page.getByText('was deleted').waitFor();
      },
      { refused: /ERR_FAILED/ },
    ),
  );

  it('make an Owner once, however often the button is pressed', () =>
    visit('applications', async (_, page) => {
      await page.getByLabel('Name').fill('Pressed twice');
      await page.getByLabel('Owner: may do everything').check();
      let answer = () => {};
      const pressed = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/applications', (route) => pressed.then(() => route.continue()));
      const create = page.getByRole('button', { name: 'Create' });
      await create.click();
      await create.click({ force: true });
      answer();
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await row(page, 'Applications', 'Pressed twice').filter({ hasText: 'Owner' }).waitFor();
      await page.reload();
      await page.getByRole('table').waitFor();
      expect(await row(page, 'Applications', 'Pressed twice').count()).toBe(1);
      await pressAndConfirm(page, row(page, 'Applications', 'Pressed twice'), 'Delete');
      await page.getByText('was deleted').waitFor();
    }));

  it('make an application and delete it by keyboard only', () =>
    visit('applications', async (open, page) => {
      await page.getByRole('table').waitFor();
      await onto(page, page.getByRole('link', { name: 'Applications' }));
      await type(page, page.getByLabel('Name'), 'Typed');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'Secret of Typed' }).waitFor();
      await press(page, page.getByRole('button', { name: 'I have stored it' }), 'Space');
      await pressAndConfirm(page, row(page, 'Applications', 'Typed'), 'Delete');
      await page.getByText('Typed was deleted').waitFor();
      await row(page, 'Applications', 'Typed').waitFor({ state: 'detached' });
      await expect.poll(() => open.focused()).toBe('Applications');
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

  it('invite people, withdraw an invite, make somebody an Owner and take that away, by keyboard only', () =>
    visit('people', async (_, page) => {
      await type(page, page.getByLabel('E-mail'), 'new@example.com');
      await page.keyboard.press('Enter');
      await page.getByText('The invite for new@example.com is made').waitFor();
      expect(rig.mails.at(-1)!.to).toEqual(['new@example.com']);
      const invite = row(page, 'Invites that are not accepted', 'new@example.com');
      await pressAndConfirm(page, invite, 'Withdraw');
      await invite.waitFor({ state: 'detached' });
      const member = row(page, 'Members', 'reader@example.com');
      await pressAndConfirm(page, member, 'Make Owner');
      await pressAndConfirm(page, member, 'Remove Owner role');
      await member.getByRole('button', { name: 'Make Owner' }).waitFor();
    }));

  it('deactivate a person, and reactivate the person without a role', async () => {
    await rig.join('returner', ['OWNER']);
    await visit('people', async (_, page) => {
      const member = row(page, 'Members', 'returner@example.com');
      await member.filter({ hasText: 'Owner' }).waitFor();
      await pressAndConfirm(page, member, 'Deactivate');
      await member.filter({ hasText: 'deactivated' }).waitFor();
      await pressAndConfirm(page, member, 'Reactivate');
      await member.getByRole('button', { name: 'Make Owner: Name of returner' }).waitFor();
      expect((await member.getByRole('cell').allTextContents()).slice(2, 4)).toEqual(['–', 'active']);
    });
  });

  it('say of a list that there is more of it than they show', () =>
    visit('people', async (_, page) => {
      for (const list of ['members', 'invites'])
        await page.route(`**/${list}?**`, async (route) => {
          const json = (await (await route.fetch()).json()) as Record<string, object[]>;
          const [one] = json[list]!;
          const many = Array.from({ length: 1000 }, (_, at) => ({ ...one, identity: `${list}/${at}` }));
          await route.fulfill({ json: { [list]: many, next_page_token: 'more' } });
        });
      await page.reload();
      await page.getByRole('table').nth(1).waitFor();
      expect(await page.getByText('Only the newest 1000 are shown. The API has all of them.').count()).toBe(2);
    }));

  it('name and offer also the applications that are not on the first page of their list', () =>
    visit('webhooks', async (_, page) => {
      await page.route('**/applications?**', async (route) => {
        if (new URL(route.request().url()).searchParams.has('page_token')) {
          const application = { identity: 'applications/last', display_name: 'The last one' };
          return route.fulfill({ json: { applications: [application], next_page_token: '' } });
        }
        const { applications } = (await (await route.fetch()).json()) as { applications: object[] };
        const many = Array.from({ length: 1000 }, (_, at) => ({ ...applications[0], identity: `applications/${at}` }));
        await route.fulfill({ json: { applications: many, next_page_token: 'more' } });
      });
      await page.reload();
      const choice = page.getByRole('combobox', { name: 'Application' });
      await choice.getByRole('option', { name: 'The last one' }).waitFor({ state: 'attached' });
    }));

  it.each([
    ['service', 'capture_reports', 'Capture of conversations'],
    ['webhooks', 'deliveries', 'Deliveries to The <b>warehouse</b>'],
    ['access', 'members', 'Try it for a person'],
  ])('say why a part of a page shows nothing, and lead back to the sign-in if it has ended: %s', (view, list, part) =>
    visit(
      view,
      async (_, page) => {
        let status = 401;
        await page.route(`**/${list}?**`, (route) => (status === 200 ? route.continue() : route.fulfill({ status })));
        await page.reload();
        if (view === 'webhooks') await page.getByRole('button', { name: 'Deliveries: The <b>warehouse</b>' }).click();
        if (view === 'access') await page.getByRole('button', { name: 'New policy' }).click();
        await page.getByRole('link', { name: 'Sign in' }).waitFor();
        status = 500;
        await page.reload();
        if (view === 'webhooks') await page.getByRole('button', { name: 'Deliveries: The <b>warehouse</b>' }).click();
        if (view === 'access') await page.getByRole('button', { name: 'New policy' }).click();
        await page.getByRole('alert').filter({ hasText: 'The service could not answer (status 500)' }).waitFor();
        await page.getByRole('heading', { name: part }).waitFor();
        status = 200;
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByRole('alert').waitFor({ state: 'detached' });
        await page.getByRole('heading', { name: part }).waitFor();
        if (view !== 'access') return;
        await page.getByLabel('Person, application or organisation').waitFor();
        await press(page, page.getByRole('button', { name: 'Cancel' }));
        const add = page.getByRole('button', { name: 'New policy' });
        await expect.poll(() => add.evaluate((element) => element.matches(':focus'))).toBe(true);
      },
      { refused: /status of (?:401|500)/ },
    ),
  );

  it('try an access policy for a person before it is saved, and what they say then holds', () =>
    visit('access', async (open, page) => {
      const call = { attributes: { arc_display_name: 'A <b>call</b>', arc_display_type: 'call' } };
      for (const asset of [call, call, { attributes: { arc_display_type: 'letter' } }])
        expect((await rig.owner.post('/archivist/v2/assets', asset)).status).toBe(200);
      await page.getByRole('button', { name: 'New policy' }).click();
      await page.getByLabel('Name').fill('Readers read calls');
      await page.getByLabel('For whom').fill('group:nobody or email=reader@example.com or Ada');
      await page.getByLabel('Which assets').fill('attributes.a=b\narc_display_type=call');
      await page.getByText('“arc_display_type=call”: ').waitFor();
      await page.getByText('“Ada”: must be email=').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await open.focused()).toBe('Which assets');
      await page.getByLabel('Which assets').fill('attributes.arc_display_type=call');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await open.focused()).toBe('For whom');
      expect(await open.barriers()).toEqual([]);
      await page.getByLabel('For whom').fill('group:nobody or email=reader@example.com');
      await page
        .getByText('the group nobody or reader@example.com may read all attributes and read all events.')
        .waitFor();
      await page.getByLabel('Person, application or organisation').selectOption({ label: 'Name of chief' });
      await page.getByText('This policy does not name Name of chief').waitFor();
      await page.getByLabel('Person, application or organisation').selectOption({ label: 'Name of reader' });
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

  it('write a policy with several permissions and another organisation by keyboard only, and it holds', () =>
    visit('access', async (open, page) => {
      const partner = await rig.running.client({ roles: ['OWNER'], otherTenancy: true });
      const self = 'subjects/00000000-0000-0000-0000-000000000000';
      const exported = async (client: typeof partner) =>
        (await client.get(`/archivist/iam/v1/${self}`)).json['subject_string'];
      const subject = { display_name: 'The <b>bank</b>', subject_string: await exported(partner) };
      expect((await rig.owner.post('/archivist/iam/v1/subjects', subject)).status).toBe(200);
      const loan = { attributes: { arc_display_type: 'loan', amount: '5' } };
      expect((await rig.owner.post('/archivist/v2/assets', loan)).status).toBe(200);
      await page.reload();
      await press(page, page.getByRole('button', { name: 'New policy' }));
      await type(page, page.getByLabel('Name'), 'The bank sees loans');
      await type(page, page.getByLabel('Which assets'), 'attributes.arc_display_type=loan');
      const permission = (number: number) => page.getByRole('group', { name: `Permission ${number}`, exact: true });
      await type(page, permission(1).getByLabel('For whom'), 'email=reader@example.com');
      await press(page, page.getByRole('button', { name: 'Add a permission' }));
      await expect
        .poll(() =>
          permission(2)
            .locator('legend')
            .first()
            .evaluate((element) => element.matches(':focus')),
        )
        .toBe(true);
      await press(page, permission(2).getByLabel('The <b>bank</b>'), 'Space');
      await page.getByText('the organisation The <b>bank</b> may read all attributes and read all events.').waitFor();
      await chooseByKeys(page, page.getByLabel('Person, application or organisation'), 'The <b>bank</b>');
      await page.getByText('This policy names The <b>bank</b>, for 1 of the newest').waitFor();
      await page.getByText('This organisation has not imported yours yet').waitFor();
      expect(await page.locator('#page b').count()).toBe(0);
      expect(await open.barriers()).toEqual([]);
      await press(page, page.getByRole('button', { name: 'Save', exact: true }));
      await page.getByText('The bank sees loans was saved').waitFor();
      await partner.post('/archivist/iam/v1/subjects', {
        display_name: 'Us',
        subject_string: await exported(rig.owner),
      });
      const seen = async () => (await partner.get('/archivist/v2/assets')).json['assets'] as unknown[];
      expect(await seen()).toHaveLength(1);
      const policy = page
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading', { name: 'The bank sees loans' }) });
      await policy.getByText('the organisation The <b>bank</b> may read').waitFor();
      await press(page, policy.getByRole('button', { name: 'Change' }));
      await press(page, page.getByRole('button', { name: 'Remove permission 1' }));
      await permission(2).waitFor({ state: 'detached' });
      await press(page, page.getByRole('button', { name: 'Save', exact: true }));
      await policy.getByText('reader@example.com').waitFor({ state: 'detached' });
      await pressAndConfirm(page, policy, 'Delete');
      await policy.waitFor({ state: 'detached' });
    }));

  it('change a policy that the API wrote, with its behaviours and included attributes', () =>
    visit('access', async (_, page) => {
      const permission = {
        user_attributes: [{ or: ['group:a'] }],
        behaviours: ['AssetCreator', 'Builtin'],
        include_attributes: ['amount', 'branch'],
        asset_attributes_read: ['amount'],
      };
      const body = { display_name: 'Behaviours', filters: [], access_permissions: [permission] };
      const { json } = await rig.owner.post('/archivist/iam/v1/access_policies', body);
      await page.reload();
      const policy = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Behaviours' }) });
      await policy.getByText('“amount”, “branch” and use the behaviours “AssetCreator”, “Builtin”').waitFor();
      await press(page, policy.getByRole('button', { name: 'Change' }));
      await type(page, page.getByLabel('Behaviours that they see and record with'), '*');
      await page.getByText('use every behaviour').first().waitFor();
      await press(page, page.getByRole('button', { name: 'Save', exact: true }));
      await page.getByText('Behaviours was saved').waitFor();
      const saved = (await rig.owner.get(`/archivist/iam/v1/${json['identity']}`)).json['access_permissions'];
      expect(saved).toMatchObject([
        { behaviours: ['*'], include_attributes: [], asset_attributes_read: ['amount', 'branch'] },
      ]);
      await pressAndConfirm(page, policy, 'Delete');
      await policy.waitFor({ state: 'detached' });
    }));

  it('leave a policy that the form cannot write to the API', () =>
    visit('access', async (_, page) => {
      const permission = { user_attributes: [{ or: ['group:a'] }], asset_attributes_read: ['one, two'] };
      const body = { display_name: 'A name with a comma', filters: [], access_permissions: [permission] };
      expect((await rig.owner.post('/archivist/iam/v1/access_policies', body)).status).toBe(200);
      await page.reload();
      const heading = page.getByRole('heading', { name: 'A name with a comma' });
      const policy = page.getByRole('listitem').filter({ has: heading });
      await policy.getByText('Change it with the API').waitFor();
      expect(await policy.getByRole('button', { name: 'Change' }).count()).toBe(0);
    }));

  it('show the security audit, and lead from an entry to its proof, by keyboard only', () =>
    visit('audit', async (_, page) => {
      await row(page, 'Entries', 'invite create').first().waitFor();
      await chooseByKeys(page, page.getByLabel('Show'), 'Refused attempts');
      await chooseByKeys(page, page.getByLabel('Show'), 'Everything', 'ArrowUp');
      await press(page, row(page, 'Entries', 'invite create').first().getByRole('link', { name: 'See the entry' }));
      await press(page, page.getByRole('button', { name: 'Check the evidence' }));
      await page.locator('.banner').waitFor();
      await type(page, page.getByLabel('Root fingerprint'), rig.running.service.rootFingerprint);
      await page.locator('.banner.verified').waitFor();
    }));

  it('show no entries of the security audit that were not asked for, while they read those that were', () =>
    visit('audit', async (_, page) => {
      await page.getByRole('table', { name: 'Entries' }).waitFor();
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/security_events?outcome=failure**', (route) => asked.then(() => route.continue()));
      await page.getByLabel('Show').selectOption('failure');
      await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor();
      expect(await page.getByRole('table', { name: 'Entries' }).count()).toBe(0);
      answer();
      await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' });
    }));

  it('show the actions of the security audit in whole words', async () => {
    await rig.owner.post('/archivist/iam/v1/applications', { display_name: 'Whole words '.repeat(8) });
    await visit('audit', async (_, page) => {
      await page.getByRole('table').first().waitFor();
      const broken = `[...document.querySelectorAll('td .words .evidence')].flatMap(({ firstChild: text }) =>
        [...text.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          return range.getClientRects().length !== 1;
        }).map(({ 0: word }) => word))`;
      expect(await page.locator('td .words').count()).toBeGreaterThan(0);
      for (const width of [1000, 320]) {
        await page.setViewportSize({ width, height: 900 });
        expect([width, await page.evaluate(broken)]).toEqual([width, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    });
  });

  it('lead a reader by keyboard on to the first new row when the last rows of a table are shown', () =>
    visit('audit', async (_, page) => {
      const changed = `/archivist/iam/v1/applications/${rig.owner.clientId}`;
      for (let count = 0; count < 60; count += 1)
        await sendRequest(rig.url, rig.owner, 'PATCH', changed, { display_name: `The ${count}th` });
      await page.reload();
      const links = page.getByRole('table', { name: 'Entries' }).getByRole('link');
      const more = page.getByRole('button', { name: /^Show (?:1 )?more/ });
      await onto(page, more);
      let shown: number;
      do {
        shown = await links.count();
        await page.keyboard.press('Enter');
        await expect.poll(() => links.count()).toBeGreaterThan(shown);
      } while ((await more.count()) > 0);
      expect(await links.nth(shown).evaluate((link) => link.matches(':focus'))).toBe(true);
    }));

  it('make a webhook with only the keyboard, and show its secret once', () =>
    visit('webhooks', async (open, page) => {
      await type(page, page.getByLabel('Name'), 'Ledger of the <i>bank</i>');
      await page.keyboard.press('Tab');
      await page.keyboard.type(NOWHERE);
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await press(page, page.getByRole('button', { name: 'Create', exact: true }));
      expect((await open.focused()).trim()).toBe('an event is confirmed');
      await press(page, page.getByLabel('an event is confirmed'), 'Space');
      await page.keyboard.press('Enter');
      const card = page.getByRole('alert').filter({ hasText: 'Secret of' });
      await card.waitFor();
      expect(await open.barriers()).toEqual([]);
      expect(await card.locator('code').allTextContents()).toEqual([expect.stringMatching(/^whsec_/)]);
      await press(page, page.getByRole('button', { name: 'I have stored it' }));
      await row(page, 'Webhooks', 'Ledger of the <i>bank</i>').filter({ hasText: NOWHERE }).waitFor();
      expect(await page.locator('#page i').count()).toBe(0);
      expect(await page.getByText('whsec_').count()).toBe(0);
      await press(page, row(page, 'Webhooks', 'Ledger of the').getByRole('button', { name: 'Deliveries' }));
      await page.getByRole('heading', { name: 'Deliveries to Ledger of the <i>bank</i>' }).waitFor();
      await pressAndConfirm(page, row(page, 'Webhooks', 'Ledger of the'), 'Delete');
      await page.getByRole('heading', { name: 'Deliveries to' }).waitFor({ state: 'detached' });
      await page.getByText('was deleted').waitFor();
      const { json } = await rig.owner.get('/archivist/iam/v1/webhooks');
      expect(JSON.stringify(json)).not.toContain('Ledger of the');
    }));

  it('write out what would reorder the names of applications in a choice', async () => {
    const path = '/archivist/iam/v1/applications';
    const { json } = await rig.owner.post(path, { display_name: 'safe\u202eexe' });
    await visit('webhooks', async (_, page) => {
      const choice = page.getByRole('combobox', { name: 'Application' });
      expect(await choice.getByRole('option', { name: /^safe/ }).textContent()).toBe('safe\\u202eexe');
    });
    await sendRequest(rig.url, rig.owner, 'DELETE', `/archivist/iam/v1/${json['identity']}`);
  });

  it('keep what was typed when the sign-in has ended, and lead back to it', () =>
    visit('webhooks', async (_, page) => {
      await page.getByLabel('Name').fill('Kept');
      await page.getByLabel('Address').fill('https://hooks.example.com');
      await page.getByRole('combobox', { name: 'Application' }).selectOption(`applications/${rig.owner.clientId}`);
      await page.getByLabel('an event is confirmed').check();
      const expiry = (sql: string) => rig.running.asOwner(`UPDATE archivist.member_session SET expires_at = ${sql}`);
      await expiry(`now() - interval '1 s'`);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('Your sign-in has ended, and nothing was changed').waitFor();
      const link = page.getByRole('link', { name: 'Sign in' });
      expect([await link.getAttribute('target'), await page.getByLabel('Name').inputValue()]).toEqual([
        '_blank',
        'Kept',
      ]);
      await expiry(`now() + interval '1 hour'`);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'Secret of Kept' }).waitFor();
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await pressAndConfirm(page, row(page, 'Webhooks', 'Kept'), 'Delete');
      await page.getByText('was deleted').waitFor();
    }));

  it('show on a phone why the service refuses a change, however far the button is below', () =>
    visit(
      'webhooks',
      async (_, page) => {
        await page.setViewportSize({ width: 390, height: 400 });
        await type(page, page.getByLabel('Name'), 'Unsafe');
        await type(page, page.getByLabel('Address'), 'ftp://hooks.example');
        await page.getByRole('combobox', { name: 'Application' }).selectOption(`applications/${rig.owner.clientId}`);
        await press(page, page.getByLabel('an event is confirmed'), 'Space');
        await press(page, page.getByRole('button', { name: 'Create', exact: true }));
        const alert = page.getByRole('alert').filter({ hasText: 'url: ' });
        await alert.waitFor();
        await expect.poll(() => isInView(alert)).toBe(true);
      },
      { refused: /status of 400/ },
    ));

  it('show on a phone a new secret, and what was done, however far the button is below', () =>
    visit('applications', async (_, page) => {
      await page.setViewportSize({ width: 390, height: 640 });
      await type(page, page.getByLabel('Name'), 'Far below');
      await press(page, page.getByRole('button', { name: 'Create', exact: true }));
      const card = page.getByRole('alert').filter({ hasText: 'Secret of Far below' });
      await row(page, 'Applications', 'Far below').waitFor();
      await expect.poll(() => isInView(card)).toBe(true);
      await press(page, page.getByRole('button', { name: 'I have stored it' }));
      await page.setViewportSize({ width: 390, height: 240 });
      await pressAndConfirm(page, row(page, 'Applications', 'Far below'), 'End tokens');
      const done = page.getByRole('status').filter({ hasText: 'Far below' });
      await done.waitFor();
      await expect.poll(() => isInView(done)).toBe(true);
      await pressAndConfirm(page, row(page, 'Applications', 'Far below'), 'Delete');
    }));

  it('show what was delivered to a webhook and why not, and send it again, by keyboard only', () =>
    visit('webhooks', async (open, page) => {
      expect((await rig.owner.post('/archivist/v2/assets', { attributes: {} })).status).toBe(200);
      const shown = row(page, 'Deliveries', 'an event is confirmed').filter({ hasText: 'did not answer' }).first();
      await press(page, row(page, 'Webhooks', 'warehouse').getByRole('button', { name: 'Deliveries' }));
      await expect
        .poll(
          async () => {
            await press(page, page.getByRole('button', { name: 'Read again' }));
            return shown.filter({ hasText: 'waits' }).count();
          },
          { timeout: 60_000 },
        )
        .toBe(1);
      expect(await open.barriers()).toEqual([]);
      await press(page, shown.getByRole('button', { name: 'Send again' }));
      await page.getByText('It is sent again, under the same id.').waitFor();
      await chooseByKeys(page, page.getByLabel('Status'), 'delivered');
      await page.getByText('There are no such deliveries.').waitFor();
    }));

  it('show the queue, the dead letters and the gaps that plugins have reported', () =>
    visit('service', async (_, page) => {
      await row(page, 'Capture of conversations', '4711').filter({ hasText: '62 seconds' }).waitFor();
      await row(page, 'Dead letters', 'vcon_created')
        .filter({ hasText: 'ab'.repeat(32) })
        .waitFor();
      await row(page, 'Gaps', '2026-11-21').filter({ hasText: '17' }).waitFor();
      const saved = page.waitForEvent('download');
      await press(page, page.getByRole('button', { name: /CSV/ }).first());
      expect((await saved).suggestedFilename()).toBe('parts.csv');
      await press(page, page.getByRole('link', { name: 'The statement logs' }));
      await page.getByRole('heading', { name: 'logs' }).first().waitFor();
    }));

  it('show the health of the parts, and what to do about a halted log', () => {
    const check = async (_: OpenPage, page: Page) => {
      await page.getByText('The service accepts requests').waitFor();
      await row(page, 'Parts', 'Queue').filter({ hasText: 'ok' }).waitFor();
      await page.route('**/readyz', (route) =>
        route.fulfill({
          status: 503,
          json: { ready: false, checks: { logs: '1 HALTED' }, halted_logs: [{ log: '<b>log</b>', kind: 'tenancy' }] },
        }),
      );
      await page.reload();
      await page.getByText('The service does not accept requests now').waitFor();
      await row(page, 'Halted logs', '<b>log</b>').waitFor();
      await page.getByText('vcon-archivist logs resume').waitFor();
    };
    return visit('service', check, { refused: /status of 503/ });
  });

  it('call each button of a row by its text and its row, and no two the same, for those who only hear them', () =>
    visit('webhooks', async (_, page) => {
      const hook = { display_name: 'Twins', url: NOWHERE, event_types: ['event.confirmed'] };
      const permission = { user_attributes: [{ or: ['group:a'] }], asset_attributes_read: ['*'] };
      const policy = { display_name: 'Twins', filters: [], access_permissions: [permission] };
      const twins = { applications: { display_name: 'Twins' }, access_policies: policy, webhooks: hook };
      for (const [path, twin] of [...Object.entries(twins), ...Object.entries(twins)])
        expect((await rig.owner.post(`/archivist/iam/v1/${path}`, twin)).status).toBe(200);
      for (let count = 0; count < 3; count += 1)
        expect((await rig.owner.post('/archivist/v2/assets', { attributes: {} })).status).toBe(200);
      const expected = {
        applications: ['New secret: Twins', 'End tokens: Twins (2)', 'Delete: Twins (2)'],
        people: ['Make Owner: Name of reader, reader@example.com', 'Withdraw: invited@example.com'],
        access: ['Change: Twins', 'Delete: Twins', 'Change: Twins (2)', 'Delete: Twins (2)'],
        webhooks: ['Deliveries: The <b>warehouse</b>', 'Deliveries: Twins (2)', 'Delete: Twins (2)'],
      };
      for (const [view, some] of Object.entries(expected)) {
        await page.goto(`${rig.url}/console?view=${view}`);
        await page.getByRole('button', { name: some[0]!, exact: true }).waitFor();
        expect(await namesOfRows(page)).toEqual(expect.arrayContaining(some));
      }
      await page.getByRole('button', { name: 'Deliveries: Twins (2)' }).click();
      const told = page.getByRole('table', { name: 'Deliveries' }).getByRole('button');
      await expect
        .poll(
          () =>
            page
              .getByRole('button', { name: 'Read again' })
              .click()
              .then(() => told.count()),
          {
            timeout: 60_000,
          },
        )
        .toBeGreaterThanOrEqual(3);
      const names = (await namesOfRows(page)).filter((name) =>
        name.startsWith('Send again: an event is confirmed, 20'),
      );
      expect(names).toHaveLength(await told.count());
    }));

  it('hide themselves from a person without the role', () =>
    visit(
      '',
      async (_, page) => {
        for (const view of VIEWS) {
          await page.goto(`${rig.url}/console?view=${view}`);
          await page.getByText('This page is for Owners.').waitFor();
          const links = await page.getByRole('navigation').getByRole('link').allTextContents();
          expect([view, ...links]).toEqual([view, 'Find', 'Compliance']);
        }
      },
      { session: sessionOfReader },
    ));

  it.each([
    ['light', 1000],
    ['dark', 320],
  ] as const)(
    'have no barrier that axe finds, nor scroll sideways with widely spaced text, in %s colours and %i pixels wide',
    (colorScheme, width) =>
      visit(
        VIEWS[0]!,
        async (open, page) => {
          for (const view of VIEWS) {
            await page.goto(`${rig.url}/console?view=${view}`);
            if (view === 'access') await page.getByRole('button', { name: 'New policy' }).click();
            if (view === 'access') await page.getByLabel('Person, application or organisation').waitFor();
            else await page.getByRole('table').first().waitFor();
            expect([view, ...(await open.barriers())]).toEqual([view]);
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
            await open.picture(view);
            // As narrow as it is beside a scroll bar.
            await page.setViewportSize({ width: 304, height: 900 });
            expect([view, await open.sidewaysWhenSpaced()]).toEqual([view, 0]);
            await page.setViewportSize({ width, height: 900 });
          }
        },
        { colorScheme, width },
      ),
  );
});
