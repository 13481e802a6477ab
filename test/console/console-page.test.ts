import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeBundle } from '../../src/core/bundle/complete-bundle.js';
import { type PeopleRig, startPeopleRig } from '../api/people-rig.js';
import { template, until } from '../api/test-service.js';
import { uploadFile } from '../api/upload-file.js';
import { chromiumPath } from '../support/chromium.js';
import { type ConsoleBrowser, consoleBrowser, sessionOf, type Visit } from './console-rig.js';
import type { OpenPage } from './page-rig.js';

const UUID = '0192e8f5-0000-7000-8000-0000000000c1';
const REDACTED = '0192e8f5-0000-7000-8000-0000000000c2';
const SUBJECT = `vcon://${UUID}`;
/** As a conserver writes it, so that its bytes are what was hashed. */
const VCON = `{"uuid": "${UUID}", "vcon": "0.3.0", "parties": [{"name": "مريم"}], "dialog": []}`;
const HOSTILE = '<b onclick="alert(1)">chain</b>\u202ekcilc';
const LABEL = 'reviewed';
const SHOTS = process.env['TEST_SCREENSHOTS'];

let rig: PeopleRig;
let asset: string;
/** An event without an asset. */
let assetFree: string;
let sessionOfOwner: string;
let sessionOfReader: string;

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

async function post(path: string, body: object): Promise<string> {
  const { status, json } = await rig.owner.post(path, body);
  if (status !== 200) throw new Error(String(json['description']));
  return String(json['identity']);
}

const record = (of: string, subject: string, operation: string, more: object = {}, assetAttributes: object = {}) =>
  post(`/archivist/v2/${of}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template(subject, {
      arc_display_type: operation,
      vcon_operation: operation,
      vcon_history: SUBJECT,
      payload: sha256(VCON),
      ...more,
    }),
    asset_attributes: assetAttributes,
  });

beforeAll(async () => {
  rig = await startPeopleRig();
  const attributes = { subject: SUBJECT, arc_display_name: 'The call of Monday', arc_display_type: 'vcon' };
  asset = await post('/archivist/v2/assets', { attributes });
  const other = await post('/archivist/v2/assets', {
    attributes: { ...attributes, subject: `vcon://${REDACTED}`, arc_display_name: 'The redacted call' },
  });
  await record(asset, SUBJECT, 'vcon_created', { conserver_chain: HOSTILE });
  await record(asset, SUBJECT, 'vcon_consent_accepted');
  const redacted = { vcon_redacts: SUBJECT, payload: 'ab'.repeat(32) };
  const last = await record(other, `vcon://${REDACTED}`, 'vcon_party_redacted', redacted, { state: 'redacted' });
  for (let number = 0; number < 30; number += 1)
    await record(asset, `vcon://0192e8f5-0000-7000-8000-0000000001${String(number).padStart(2, '0')}`, 'vcon_sent', {
      vcon_history: `vcon://other-${number}`,
    });
  const sent = { vcon_history: 'vcon://sent', partner: 'acme', conserver_link: 'sftp_out' };
  // As the conserver's plugin records these names.
  const labels = { conserver_chain: 'night%20shift%20%26%20more%21', conserver_link_name: 'hand%20over' };
  await record(asset, 'vcon://0192e8f5-0000-7000-8000-0000000002c1', 'vcon_sent', { ...sent, ...labels });
  const partners = await post('/archivist/v2/assets', {
    attributes: { arc_display_name: 'Shared', partner: 'of the asset' },
  });
  await post(`/archivist/v2/${partners}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { arc_display_type: 'Sent elsewhere' },
  });
  const without = (event_type: string, trails: readonly string[], more = {}) =>
    post('/archivist/v1/events', { event_type, trails, attributes: { note: HOSTILE, ...more } });
  const own = { partner: 'bolt', call_id: 'CA-0192-free', payload: 'cd'.repeat(32), reviewer_team: 'east' };
  assetFree = await without(LABEL, [`case o'${UUID}`, 'case-7'], own);
  await without(`of ${HOSTILE}`, []);
  await rig.owner.post('/archivist/iam/v1/access_policies', {
    display_name: 'Readers see events, and nothing of an asset but its subject',
    filters: [{ or: ['attributes.arc_display_type=vcon'] }],
    access_permissions: [
      {
        user_attributes: [{ or: ['email=reader@example.com'] }],
        event_arc_display_type_read: ['*'],
        asset_attributes_read: ['subject'],
      },
    ],
  });
  await until(
    () => rig.owner.get(`/archivist/v2/${asset}/events?event_attributes.arc_display_type=arc_access_policy`),
    ({ json }) => (json['events'] as unknown[]).length > 0,
    60_000,
  );
  const claims = await post('/archivist/v2/assets', { attributes: {} });
  await post(`/archivist/v2/${claims}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: { arc_display_type: 'arc_access_policy' },
  });
  sessionOfOwner = await sessionOf(rig, 'chief', ['OWNER']);
  sessionOfReader = await sessionOf(rig, 'reader');
  await until(
    () => rig.owner.get(`/archivist/v2/${last}/evidence`),
    ({ status }) => status === 200,
    60_000,
  );
  await until(
    () => rig.owner.get(`/archivist/v1/${assetFree}/evidence`),
    ({ status }) => status === 200,
    60_000,
  );
});
afterAll(() => rig?.close());

describe('the console', () => {
  it('is one page for everybody, under a policy that allows only its own script and this service', async () => {
    const { status, headers } = await rig.running.anonymous.get('/console');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy')!;
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/);
    expect(policy).toMatch(/connect-src 'self'.*frame-ancestors 'none'$/);
    expect(policy).not.toContain('unsafe');
    const again = await rig.running.anonymous.get('/console', { 'if-none-match': headers.get('etag')! });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  it('is at most 160 kB on its way to a browser', async () => {
    const reply = await fetch(`${rig.url}/console`, { headers: { 'accept-encoding': 'gzip' } });
    await reply.arrayBuffer();
    expect(reply.headers.get('content-encoding')).toBe('gzip');
    expect(Number(reply.headers.get('content-length'))).toBeLessThanOrEqual(160_000);
  });
});

describe.skipIf(!chromiumPath)('the console in a browser', { timeout: 180_000 }, () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await consoleBrowser(rig.url);
  });
  afterAll(() => browser?.close());
  const visit = (check: (open: OpenPage, page: Page) => Promise<void>, wanted: Visit = {}) =>
    browser.visit(check, { session: sessionOfOwner, ...wanted });

  const field = (page: Page) => page.getByRole('searchbox');
  const titles = (page: Page) => page.locator('.timeline h3').allTextContents();
  const found = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();

  it('lets a person sign in at the organisation’s provider and come back to the same address', () =>
    visit(
      async (_, page) => {
        await page.getByRole('link', { name: 'Sign in' }).click();
        await page.locator('input[name=login]').fill('chief');
        await page.locator('input[name=password]').fill('any');
        await page.locator('button[type=submit]').click();
        await page.locator('button[type=submit]').click();
        await page.getByText('Signed in as Name of chief').waitFor();
        expect(new URL(page.url()).search).toBe('?q=nothing-of-this-name');
        await found(page, 'Nothing was found');
        const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'archivist-session');
        expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
        await page.getByRole('button', { name: 'Sign out', exact: true }).click();
        await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      },
      { session: '', query: '?q=nothing-of-this-name' },
    ));

  it.each([
    ['a conversation’s id', UUID, /^3 events/],
    ['a file’s hash', 'AB'.repeat(32), /^1 event,/],
    ['an asset’s name', 'The redacted call', /^[23] events/],
    ['labels', `vcon_operation=vcon_created subject=${SUBJECT}`, /^1 event,/],
  ])('finds events by %s while it is typed, and keeps the query in the address', (_, typed, count) =>
    visit(async (_open, page) => {
      await found(page, 'The newest 25 events');
      await field(page).fill(typed);
      await page.waitForURL((url) => url.searchParams.get('q') === typed);
      await found(page, count);
    }),
  );

  it('calls by its name what the service itself records of access policies, and nothing else', () =>
    visit(
      async (_, page) => {
        await found(page, /events, the newest first$/);
        const shown = await titles(page);
        expect(shown.filter((each) => each === 'arc_access_policy')).toHaveLength(1);
        expect(new Set(shown)).toEqual(new Set(['arc_access_policy', 'Access policy changed']));
        // Of no conversation: the asset tells one from the other.
        for (const each of await page.locator('.operation').allTextContents())
          expect(each).toMatch(/Asset[0-9a-f-]{36}/);
      },
      { query: '?q=arc_display_type%3Darc_access_policy' },
    ));

  it('finds a statement by its identity, and reads pages until the last one', () =>
    visit(async (_, page) => {
      await field(page).fill(asset);
      await found(page, 'The newest 25 events');
      await page.getByRole('button', { name: 'Show more' }).click();
      await found(page, /3[0-9] events, the newest first/);
      expect((await titles(page)).at(-1)).toBe('Asset created');
    }));

  it('finds one event by its identity', async () => {
    const { json } = await rig.owner.get(`/archivist/v2/${asset}/events?event_attributes.vcon_operation=vcon_created`);
    const [{ identity }] = json['events'] as [{ identity: string }];
    await visit(async (_, page) => {
      await field(page).fill(identity);
      await found(page, '1 event,');
      expect(await titles(page)).toEqual(['Created']);
      await field(page).fill(identity.replace(/.$/, 'g'));
      await found(page, 'Nothing was found');
    });
  });

  it('keeps what was found when reading on fails, says why, and leaves out nothing when it is tried again', () =>
    visit(
      async (open, page) => {
        // Lists of ten: the next 25 events are five that the page has already, and a list that it has to read.
        let isAway = false;
        await page.route('**/events?**', (route) =>
          isAway
            ? route.abort()
            : route.continue({ url: route.request().url().replace('page_size=25', 'page_size=10') }),
        );
        await page.reload();
        await found(page, 'The newest 25 events');
        const shown = await titles(page);
        isAway = true;
        const more = page.getByRole('button', { name: 'Show more' });
        await more.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor();
        await found(page, 'The newest 25 events');
        expect([await titles(page), await open.focused()]).toEqual([shown, 'Try again']);
        expect(await open.barriers()).toEqual([]);
        isAway = false;
        await page.keyboard.press('Enter');
        await found(page, /3[0-9] events, the newest first/);
        const asked = await rig.owner.get(`/archivist/v2/${asset}/events?page_size=100`);
        expect(await titles(page)).toHaveLength((asked.json['events'] as unknown[]).length);
        expect(await page.getByRole('alert').count()).toBe(0);
      },
      { query: `?q=${asset}`, refused: /ERR_FAILED|status of 404/ },
    ));

  it.each([
    ['the network is away', 'abort', 'The service cannot be reached'],
    ['the service fails', 502, 'The service could not answer (status 502)'],
    ['there are too many requests', 429, 'Wait 3 seconds.'],
  ] as const)('says why the first search, a page and who reads it have no answer when %s, and tries again', (...row) =>
    visit(
      async (open, page) => {
        const [, how, why] = row;
        const body = { 429: '{"error":"rate_limited","description":"Wait 3 seconds."}', 502: '<h1>Bad gateway</h1>' };
        const again = page.getByRole('button', { name: 'Try again' });
        for (const [list, query, shown] of [
          ['**/events?**', '', /^The newest 25 events$/],
          ['**/events?**', `?conversation=${SUBJECT}`, '3 events'],
          ['**/iam/v1/principal', '', /^The newest 25 events$/],
          ['**/iam/v1/applications?**', '?view=applications', ''],
        ] as const) {
          await page.route(list, (route) =>
            how === 'abort' ? route.abort() : route.fulfill({ status: how, body: body[how] }),
          );
          await page.goto(`${rig.url}/console${query}`);
          await page.getByRole('alert').filter({ hasText: why }).waitFor();
          expect(await open.barriers()).toEqual([]);
          await page.unroute(list);
          await again.focus();
          await page.keyboard.press('Enter');
          await again.waitFor({ state: 'detached' });
          if (shown !== '') await found(page, shown);
          expect([query, await page.getByRole('alert').count()]).toEqual([query, 0]);
          if (!query.includes('view')) expect([list, await open.focused()]).not.toEqual([list, 'nothing']);
        }
      },
      { refused: /ERR_FAILED|status of (?:502|429)/ },
    ),
  );

  it('leads a reader by keyboard on to the first new event when the last page was read', () =>
    visit(
      async (open, page) => {
        await found(page, 'The newest 25 events');
        const links = page.locator('.timeline h3 a');
        let shown = await links.count();
        const more = page.getByRole('button', { name: 'Show more' });
        await more.focus();
        for (;;) {
          await page.keyboard.press('Enter');
          await expect.poll(() => links.count()).toBeGreaterThan(shown);
          if ((await more.count()) === 0) break;
          expect(await open.focused()).toBe('Show more');
          shown = await links.count();
        }
        expect(await links.nth(shown).evaluate((link) => link.matches(':focus'))).toBe(true);
      },
      { query: `?q=${asset}` },
    ));

  it('leaves the focus where the reader types when the answer of a check comes', () =>
    visit(
      async (open, page) => {
        let answer = () => {};
        const typed = new Promise<void>((resolve) => {
          answer = resolve;
        });
        await page.route('**/evidence?without=page', (route) => typed.then(() => route.continue()));
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await page.getByLabel('Root fingerprint').focus();
        answer();
        expect(await open.outcome()).toBe('Not verified yet');
        expect(await open.focused()).toBe('Root fingerprint of the operator');
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await page.getByLabel('Root fingerprint').focus();
        await page.keyboard.insertText(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
        expect(await open.focused()).toBe('Root fingerprint of the operator');
        // Who does not see the page is told the answer there.
        await found(page, /^Result: Verified$/);
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('fetches the evidence once for an answer, and keeps the key manifest that it found', () =>
    visit(
      async (open, page) => {
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        expect(await open.outcome()).toBe('Not verified yet');
        const fetched: string[] = [];
        page.on(
          'request',
          (request) => request.url().endsWith('/evidence?without=page') && fetched.push(request.url()),
        );
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
        const kept = "JSON.parse(localStorage.getItem('vcon-archivist.verifier')).manifest";
        await expect.poll(() => page.evaluate(kept)).toBeTruthy();
        await page.waitForTimeout(500);
        expect(await open.outcome()).toBe('Verified');
        expect(fetched).toHaveLength(3);
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('goes on with a check when the service has asked it to wait', () =>
    visit(
      async (open, page) => {
        await found(page, '3 events');
        let refused = 0;
        const body = '{"error":"rate_limited","description":"Wait 1 second."}';
        await page.route('**/evidence?without=page', (route) => {
          refused += 1;
          return refused > 2
            ? route.continue()
            : route.fulfill({ status: refused === 1 ? 429 : 503, headers: { 'retry-after': '1' }, body });
        });
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        expect(await open.outcome()).toBe('Not verified yet');
      },
      { query: `?conversation=${SUBJECT}`, refused: /status of (?:429|503)/ },
    ));

  it('moves a reader who waits to the answer of a check', () =>
    visit(
      async (open, page) => {
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await expect.poll(() => open.focused()).toBe('Not verified yet');
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('keeps what is shown while the service is away for a moment', () =>
    visit(
      async (_, page) => {
        await found(page, '3 events');
        await page.route('**/principal', (route) => route.abort());
        const asked = page.waitForEvent('requestfailed');
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
        await asked;
        await page.waitForTimeout(200);
        await page.getByText('Signed in as Name of chief').waitFor();
        await found(page, '3 events');
      },
      { query: `?conversation=${SUBJECT}`, refused: /ERR_FAILED/ },
    ));

  it('says so when nobody was signed out', () =>
    visit(
      async (_, page) => {
        for (const [answer, why] of [
          [(route: Route) => route.abort(), 'The service cannot be reached.'],
          [(route: Route) => route.fulfill({ status: 403, body: '' }), 'refused the request with status 403'],
        ] as const) {
          await page.route('**/sign-out', answer);
          await page.getByRole('button', { name: 'Sign out', exact: true }).click();
          await page
            .getByRole('alert')
            .filter({ hasText: `You may still be signed in. ` })
            .filter({ hasText: why })
            .waitFor();
          await page.unroute('**/sign-out');
        }
      },
      { query: `?conversation=${SUBJECT}`, refused: /ERR_FAILED|status of 403/ },
    ));

  it.each([
    ['its id', () => assetFree],
    ['its trail', () => `case o'${UUID}`],
    ['its type', () => `of ${HOSTILE}`],
    ['its call id', () => 'CA-0192-free'],
    ['the hash of its file', () => `sha256:${'CD'.repeat(32)}`],
    ['labels', () => `event_type=${LABEL} trail=case-7 reviewer_team=east`],
  ])('finds an event without an asset by %s', (_, typed) =>
    visit(async (_open, page) => {
      await found(page, 'The newest 25 events');
      await field(page).fill(typed());
      await found(page, /^1 event,/);
    }),
  );

  it('shows an event without an asset on a page of its own, and verifies it', () =>
    visit(async (open, page) => {
      await field(page).fill('case-7');
      await page.getByRole('link', { name: LABEL }).click();
      await page.getByRole('heading', { name: `Event ${assetFree}` }).waitFor();
      await found(page, '1 event');
      await page.getByText(`case o'${UUID}, case-7`).waitFor();
      await page.getByRole('button', { name: 'Check the evidence' }).click();
      await open.trust(rig.running.service.rootFingerprint);
      await page.locator('.banner.verified').waitFor();
      expect(await open.barriers()).toEqual([]);
    }));

  it('finds the file that is chosen without sending it', () =>
    visit(async (open, page) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.method(), request.postData() ?? ''));
      await open.give(browser.file('call.vcon.json', VCON));
      await found(page, /events/);
      await page.getByText('Events about call.vcon.json').waitFor();
      expect(new URL(page.url()).searchParams.getAll('hash')).toContain(sha256(VCON));
      expect(new Set(sent)).toEqual(new Set(['GET', '']));
    }));

  it('says that a changed file is in no record, and leads to the conversation that it claims to be', () =>
    visit(async (open, page) => {
      await open.give(browser.file('changed.vcon.json', VCON.replace('مريم', 'مريمم')));
      await page.getByText('No event that you may see is about the bytes of changed.vcon.json').waitFor();
      await page.getByRole('link', { name: 'See that conversation' }).click();
      await page.getByRole('heading', { name: `Conversation ${SUBJECT}` }).waitFor();
      await page.getByRole('button', { name: 'Check the evidence' }).click();
      await page.locator('.banner.refused').waitFor();
    }));

  it('filters by operation, status and day', () =>
    visit(
      async (_, page) => {
        await found(page, '1 event');
        expect(await titles(page)).toEqual(['Consent given']);
        await page.getByLabel('To').fill('2001-01-01');
        await found(page, 'Nothing was found');
        expect(new URL(page.url()).searchParams.get('until')).toBe('2001-01-01');
      },
      { query: '?operation=vcon_consent_accepted&status=CONFIRMED&since=2020-01-01' },
    ));

  it('keeps in the address the operation, the status and the day that the reader chooses', () =>
    visit(async (_, page) => {
      await found(page, 'The newest 25');
      await page.getByText('Filters', { exact: true }).click();
      await page.getByLabel('Operation', { exact: true }).selectOption('Consent given');
      await found(page, '1 event,');
      await page.getByLabel('Status', { exact: true }).selectOption('STORED');
      await found(page, 'Nothing was found');
      await page.getByLabel('Status', { exact: true }).selectOption('CONFIRMED');
      await found(page, '1 event,');
      await page.getByLabel('From', { exact: true }).fill('2099-01-01');
      await found(page, 'Nothing was found');
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        operation: 'vcon_consent_accepted',
        status: 'CONFIRMED',
        since: '2099-01-01',
      });
    }));

  it('takes a file that is dropped on any of its pages: finds it, or checks it with the place that is shown', () =>
    visit(
      async (open, page) => {
        const drop = async (content: string) => {
          const files = await page.evaluateHandle(
            `(() => { const moved = new DataTransfer(); moved.items.add(new File([${JSON.stringify(content)}], 'dropped.json')); return moved; })()`,
          );
          await page.dispatchEvent('h1', 'dragover', { dataTransfer: files });
          await page.getByText('Drop the file to find it').waitFor();
          await page.dispatchEvent('h1', 'drop', { dataTransfer: files });
          await page.getByText('Drop the file to find it').waitFor({ state: 'detached' });
        };
        await page.getByRole('table').first().waitFor();
        await drop(VCON);
        await page.getByText('Events about dropped.json').waitFor();
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByRole('link', { name: 'Consent given' }).click();
        await page.getByText('Your file dropped.json is checked too.').waitFor();
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
        const address = page.url();
        await drop(VCON.replace('0.3.0', '0.3.1'));
        await page.locator('.banner.refused').waitFor();
        await open.give(browser.file('chosen.json', VCON));
        await page.getByText('Your file chosen.json is checked too.').waitFor();
        await page.locator('.banner.verified').waitFor();
        expect(page.url()).toBe(address);
      },
      { query: '?view=audit' },
    ));

  it('says why what was dropped cannot be taken, and forgets that when another file is', () =>
    visit(async (open, page) => {
      await page.getByRole('heading', { name: 'Results' }).waitFor();
      const empty = join(dirname(browser.file('outer/none', '')), 'empty');
      mkdirSync(empty);
      await (await open.hold('h1', empty))();
      await page.getByText('The folder empty contains no files.').waitFor();
      await (await open.hold('h1', browser.file('dropped.json', VCON)))();
      await page.getByText('Events about dropped.json').waitFor();
      expect(await page.getByText('contains no files').count()).toBe(0);
    }));

  it('lists every file that an event carries, also two of one name, and each is what was uploaded', async () => {
    const uploaded = async (text: string, more: object = {}) => {
      const { json } = await uploadFile(rig.url, rig.owner, new TextEncoder().encode(text), 'text/plain');
      const { alg, value } = json['hash'] as { readonly alg: string; readonly value: string };
      const hash = { arc_blob_hash_alg: alg, arc_blob_hash_value: value };
      return { arc_attribute_type: 'arc_attachment', arc_blob_identity: json['identity'], ...hash, ...more };
    };
    const carrier = await post('/archivist/v2/assets', { attributes: {} });
    const named = { arc_display_name: 'The <b>letter</b>' };
    await post(`/archivist/v2/${carrier}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: { arc_display_type: 'Scanned', scan: await uploaded('of the event', named) },
      asset_attributes: { scan: await uploaded('of the asset') },
    });
    await visit(
      async (open, page) => {
        const links = page.getByRole('link', { name: /^Open .*: Scanned/ });
        await links.first().waitFor();
        expect(await links.allTextContents()).toEqual(['Open The <b>letter</b>', 'Open scan']);
        const contents: string[] = [];
        for (const link of await links.all()) {
          const [saved] = await Promise.all([page.waitForEvent('download'), link.click()]);
          contents.push(readFileSync(await saved.path(), 'utf8'));
        }
        expect(contents).toEqual(['of the event', 'of the asset']);
        await page.getByText(sha256('of the event'), { exact: true }).waitFor();
        expect(await open.barriers()).toEqual([]);
      },
      { query: `?asset=${carrier.slice('assets/'.length)}` },
    );
  });

  it.each([
    ['Chain', 'night shift & more!', ['Sent to a partner']],
    ['Link', 'hand over', ['Sent to a partner']],
    ['Link', 'sftp_out', ['Sent to a partner']],
    ['Partner', 'acme', ['Sent to a partner']],
    ['Partner', 'bolt', [LABEL]],
    ['Partner', 'of the asset', ['Sent elsewhere', 'Asset created']],
    ['Chain', 'night', []],
  ])('filters by %s: %s', (label, name, wanted) =>
    visit(async (_, page) => {
      await found(page, 'The newest 25');
      await page.getByText('Filters', { exact: true }).click();
      await page.getByLabel(label, { exact: true }).fill(name);
      await found(page, wanted.length === 0 ? 'Nothing was found' : `${wanted.length} event`);
      expect(await titles(page)).toEqual(wanted);
      expect([...new URL(page.url()).searchParams]).toEqual([[label.toLowerCase(), name]]);
      // The address is the search: another browser finds the same.
      await page.reload();
      await found(page, wanted.length === 0 ? 'Nothing was found' : `${wanted.length} event`);
      expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe(name);
    }),
  );

  it('filters by several names at once, by keyboard alone, and keeps the filters open while one is emptied', () =>
    visit(async (open, page) => {
      await found(page, 'The newest 25');
      await page.getByText('Filters', { exact: true }).focus();
      await page.keyboard.press('Enter');
      const focused = () =>
        page.evaluate('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.outerHTML');
      const reached: unknown[] = [];
      while (reached.at(-1) !== 'Chain' && reached.length < 20) {
        await page.keyboard.press('Tab');
        reached.push(await focused());
      }
      expect([...new Set(reached)]).toEqual(['Operation', 'Status', 'From', 'To', 'Chain']);
      await page.keyboard.type('night shift & more!');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Link');
      await page.keyboard.type('hand over');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Partner');
      await page.keyboard.type('acm');
      await found(page, 'Nothing was found');
      await page.keyboard.type('e');
      await found(page, '1 event,');
      expect(await page.evaluate('document.activeElement.list.options[0].value')).toBe('acme');
      const facts = await page.locator('.timeline .facts > div').allTextContents();
      for (const fact of ['Chainnight shift & more!', 'Linkhand over, sftp_out', 'Partneracme'])
        expect(facts).toContain(fact);
      expect(await open.barriers()).toEqual([]);
      for (const label of ['Partner', 'Link', 'Chain']) await page.getByLabel(label, { exact: true }).fill('');
      await found(page, 'The newest 25');
      expect(await page.getByLabel('Chain', { exact: true }).isVisible()).toBe(true);
    }));

  it('shows times in the reader’s zone, with UTC beside them', () =>
    visit(
      async (_, page) => {
        await found(page, '1 event');
        const [shown] = await page.locator('.timeline time').allTextContents();
        expect(shown).toMatch(/ GMT\+5:30 \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)$/);
        const [, local, utc] = /(\d+):\d\d:\d\d .*? (\d\d):\d\d:\d\d UTC/.exec(shown!)!;
        expect([5, 6]).toContain((Number(local) - Number(utc) + 36) % 12);
      },
      { query: '?operation=vcon_consent_accepted', timezoneId: 'Asia/Kolkata' },
    ));

  it('shows a conversation with its successors, and verifies it only under the reader’s fingerprint', () =>
    visit(
      async (open, page) => {
        await page.getByRole('link', { name: 'Consent given' }).click();
        await page.getByRole('heading', { name: `Conversation ${SUBJECT}` }).waitFor();
        await found(page, '3 events');
        expect(await titles(page)).toEqual(['Created', 'Consent given', 'A party redacted']);
        expect(await page.locator('#page b').count()).toBe(0);
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        expect(await open.outcome()).toBe('Not verified yet');
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
        const { outcome, claims } = await open.verdict();
        expect([outcome, claims.filter(({ kind }) => kind === 'statement').length]).toEqual(['verified', 3]);
        // Each of the three bundles has the same file of the log.
        expect(claims.filter(({ kind }) => kind === 'log')).toHaveLength(3);
        const logFiles = page.locator('.screen .operation').filter({ hasText: 'The files of a log' });
        expect(await logFiles.count()).toBe(1);
        expect(await logFiles.locator('> .detail').count()).toBe(3);
        const operation = page.locator('.screen .operation').first();
        await operation.getByText('Proof', { exact: true }).click();
        const path = operation.locator('ol.path').filter({ hasText: 'entry 0 of the log' }).first();
        const steps = await path.locator('summary').allTextContents();
        expect(steps.slice(0, 2)).toEqual(['This record', expect.stringMatching(/^signed by did:web:/)]);
        expect(steps.slice(2)).toEqual([
          expect.stringMatching(/^entry 0 of the log /),
          'leads to a root that the log signed',
        ]);
        await path.getByText('entry 0 of the log').click();
        const leaf = await path.locator('details[open] code').first().textContent();
        expect(leaf).toMatch(/^[0-9a-f]{64}$/);
        // The bytes are drawn once the step has opened.
        await path.locator('details[open] pre').nth(1).waitFor();
        const [hex, decoded] = await path.locator('details[open] pre').allTextContents();
        expect(sha256(Buffer.from(hex!.replaceAll('\n', ''), 'hex'))).toBe(leaf);
        expect(decoded).toContain(SUBJECT);
        expect(decoded).toMatch(/^00\n18\(\[\n {2}<<\{/);
        await path.getByText('leads to a root that the log signed').click();
        await path.getByText('The bytes that were signed').waitFor();
        expect(await path.locator('details[open] pre').last().textContent()).toContain('"Signature1"');
        expect(await open.barriers()).toEqual([]);
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/path.png`, fullPage: true });
        await page.goBack();
        await page.getByRole('heading', { name: 'Results' }).waitFor();
      },
      { query: '?operation=vcon_consent_accepted' },
    ));

  it.each([
    [
      'an attribute that the service shows',
      '**/assets/-/events?*',
      (body: string) => body.replace('vcon_consent_accepted', 'vcon_consent_revoked'),
    ],
    [
      'when it says that it was accepted',
      '**/assets/-/events?*',
      (body: string) => body.replaceAll(/("timestamp_accepted":")\d{4}/g, '$12001'),
    ],
  ])('refuses a conversation if %s is not what the evidence has', (_, url, change) =>
    visit(
      async (open, page) => {
        await page.route(url, async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: change(await response.text()) });
        });
        await page.reload();
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.refused').waitFor();
        await page.getByText('the page showed another value than the evidence has').first().waitFor();
      },
      { query: `?conversation=${SUBJECT}` },
    ),
  );

  it('calls the check incomplete if the service answers with good evidence of another event', () =>
    visit(
      async (open, page) => {
        await page.route('**/evidence?without=page', async (route) => {
          const response = await route.fetch();
          const body = Buffer.from(movedBundle(new Uint8Array(await response.body())));
          await route.fulfill({ response, body });
        });
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.incomplete').waitFor();
        await page.locator('.screen').getByText('does not contain this event').first().waitFor();
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('answers no search by what a policy hides: not by a hidden attribute, nor by another person’s event', () =>
    visit(
      async (_, page) => {
        await page.getByText('You are not an Owner').waitFor();
        for (const [typed, count] of [
          ['The redacted call', 'Nothing was found'],
          [UUID, /^3 events/],
          ['case-7', 'Nothing was found'],
          [`subject=${SUBJECT}`, 'The newest 25 events'],
          ['arc_display_type=vcon', 'Nothing was found'],
        ] as const) {
          await field(page).fill(typed);
          await page.waitForURL((url) => url.searchParams.get('q') === typed);
          await found(page, count);
        }
      },
      { session: sessionOfReader },
    ));

  it('names what a policy hides, and calls the check of it incomplete', () =>
    visit(
      async (open, page) => {
        await found(page, '3 events');
        await page.getByText('You are not an Owner').waitFor();
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.incomplete').waitFor();
        await page.locator('.screen').getByText('your access policy shows you only a part of it').waitFor();
        expect((await open.verdict()).not_covered).toContainEqual(
          expect.objectContaining({ why: 'unproven', piece: expect.stringContaining('A party redacted') }),
        );
        await page.getByRole('button', { name: 'Save the evidence: A party redacted' }).click();
        await page
          .locator('.timeline')
          .getByRole('alert')
          .filter({ hasText: 'You may not read all of this event' })
          .waitFor();
      },
      { query: `?conversation=${SUBJECT}`, session: sessionOfReader },
    ));

  it('asks to sign in again when the session has ended, in every browser of the person at once', () =>
    visit(async (_, page) => {
      const elsewhere = await rig.join('leaver');
      const session = /archivist-session=([^;]+)/.exec(elsewhere.browser.cookies(rig.url))![1]!;
      const here = { name: 'archivist-session', value: session, url: rig.url };
      await page.context().addCookies([here]);
      await page.reload();
      await page.getByText('Signed in as Name of leaver').waitFor();
      await elsewhere.browser.open(`${rig.url}/console/sign-in`, 'leaver');
      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      expect((await elsewhere.browser.ask(`${rig.url}/archivist/v2/assets`)).status).toBe(401);
      expect(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toContain('return_to=');
    }));

  it('says so when the session ends while the page lies open, and checks nothing until the reader is back', () =>
    visit(
      async (open, page) => {
        await found(page, '3 events');
        const cookies = await page.context().cookies();
        await page.context().clearCookies();
        const check = page.getByRole('button', { name: 'Check the evidence' });
        await check.click();
        await page.locator('.banner.unreadable').filter({ hasText: 'Your sign-in has ended' }).waitFor();
        expect(await open.outcome()).toBe('No answer');
        await page.getByText('nothing of it is checked yet').waitFor();
        const link = page.getByRole('link', { name: 'Sign in' });
        expect(await link.getAttribute('target')).toBe('_blank');
        await page.context().addCookies(cookies);
        await check.click();
        await page.getByRole('heading', { name: 'Not verified yet' }).waitFor();
        expect(await link.count()).toBe(0);
        await page.context().clearCookies();
        await page.getByRole('button', { name: 'Back to the search' }).click();
        await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('is told by the service that an event has its receipt, and does not poll', () =>
    visit(
      async (_, page) => {
        await found(page, '1 event');
        const streams: string[] = [];
        let lists = 0;
        page.on('request', (request) => {
          if (request.url().includes('/events/stream')) streams.push(request.url());
          else if (request.url().includes('/assets/-/events?')) lists += 1;
        });
        // As it is for a moment after each event was recorded.
        const unfinished = async (route: Route) => {
          const body = (await (await route.fetch()).text()).replaceAll(/CONFIRMED|UNEQUIVOCAL/g, 'STORED');
          await route.fulfill({ body, contentType: 'application/json' });
        };
        let begin = () => {};
        const shown = new Promise<void>((resolve) => {
          begin = resolve;
        });
        await page.route('**/assets/-/events?**', unfinished);
        await page.route('**/events/stream', async (route) => {
          await shown;
          await page.unroute('**/assets/-/events?**', unfinished);
          await route.continue();
        });
        await page.getByRole('link', { name: 'Consent given' }).click();
        await page.getByText('stored; the log has not taken it in yet').first().waitFor();
        begin();
        await page.getByText('in the log, under its seal').first().waitFor();
        await page.getByText('stored; the log has not taken it in yet').waitFor({ state: 'hidden' });
        expect(streams).toHaveLength(1);
        const read = lists;
        await page.waitForTimeout(2_000);
        expect(lists).toBe(read);
      },
      { query: '?operation=vcon_consent_accepted' },
    ));

  it('shows that an event has its receipt as the service says so, whatever a list says that was read before', async () => {
    const { json } = await rig.owner.get(`/archivist/v2/${asset}/events?event_attributes.vcon_operation=vcon_created`);
    const [event] = json['events'] as object[];
    await visit(
      async (_, page) => {
        await page.route('**/assets/-/events?**', async (route) => {
          const body = (await (await route.fetch()).text()).replaceAll(/CONFIRMED|UNEQUIVOCAL/g, 'STORED');
          await route.fulfill({ body, contentType: 'application/json' });
        });
        const told = `event: position\ndata: {}\n\nevent: asset_event\ndata: ${JSON.stringify(event)}\n\n`;
        await page.route('**/events/stream', (route) =>
          route.fulfill({ body: told, contentType: 'text/event-stream' }),
        );
        await page.reload();
        await page.getByText('in the log, under its seal').waitFor();
        expect(await page.getByText('stored; the log has not taken it in yet').count()).toBe(2);
      },
      { query: `?conversation=${SUBJECT}` },
    );
  });

  it('leads from an event that witnesses have cosigned to the logs, which check and name them', () =>
    visit(
      async (_, page) => {
        await page.route('**/assets/-/events?**', async (route) => {
          const body = (await (await route.fetch()).text()).replaceAll('CONFIRMED', 'UNEQUIVOCAL');
          await route.fulfill({ body, contentType: 'application/json' });
        });
        await page.reload();
        await page.getByText('witnesses have cosigned').first().waitFor();
        await page.getByRole('link', { name: 'see which witnesses' }).first().click();
        await page.getByRole('heading', { name: 'Statement logs' }).waitFor();
      },
      { query: `?conversation=${SUBJECT}` },
    ));

  it('keeps its heading in its place when it has learned who reads', () =>
    visit(
      async (_, page) => {
        let answer = () => {};
        const asked = new Promise<void>((resolve) => {
          answer = resolve;
        });
        await page.route('**/iam/v1/principal', (route) => asked.then(() => route.continue()));
        await page.reload();
        await found(page, 'Loading');
        const before = await page.locator('h1').boundingBox();
        answer();
        await page.getByRole('navigation').waitFor();
        expect(await page.locator('h1').boundingBox()).toEqual(before);
      },
      { query: '?q=nothing-of-this-name', width: 1280 },
    ));

  it('shows which page it is in the colours that a reader forces', () =>
    visit(
      async (_, page) => {
        const links = page.getByRole('navigation').getByRole('link');
        await links.first().waitFor();
        // A line of no colour has one there.
        const lines: string[] = await page.evaluate(
          `[...document.querySelectorAll('nav a')].map((link) => getComputedStyle(link).borderBottomStyle)`,
        );
        expect(lines).toEqual(['solid', ...lines.slice(1).map(() => 'none')]);
      },
      { query: '?operation=vcon_consent_accepted' },
    ));

  it('is used by keyboard', () =>
    visit(
      async (_, page) => {
        await found(page, '1 event');
        await page.getByRole('button', { name: 'Choose a file' }).focus();
        const isOnResult = () =>
          page.getByRole('link', { name: 'Consent given' }).evaluate((link) => link.matches(':focus'));
        for (let steps = 0; steps < 16 && !(await isOnResult()); steps += 1) await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Check the evidence' }).waitFor();
        expect(await page.locator('h2:focus').textContent()).toContain(SUBJECT);
      },
      { query: '?operation=vcon_consent_accepted' },
    ));

  it('leads from an event, and from what it leads to, back to where the reader left the search', () =>
    visit(
      async (_, page) => {
        const all = /3[0-9] events, the newest first/;
        await found(page, 'The newest 25 events');
        await page.getByRole('button', { name: 'Show more' }).click();
        await found(page, all);
        const link = page.locator('.timeline h3 a').nth(27);
        const isFocused = () => link.evaluate((element) => element.matches(':focus'));
        for (const back of [
          () => page.goBack(),
          async () => {
            await page.getByRole('link', { name: 'All events of the asset' }).first().click();
            await page.getByRole('heading', { name: 'Attributes now' }).waitFor();
            await page.getByRole('button', { name: 'Back to the search' }).click();
          },
        ]) {
          await link.click();
          await page.getByRole('button', { name: 'Check the evidence' }).waitFor();
          await back();
          await found(page, all);
          expect(new URL(page.url()).searchParams.get('q')).toBe(asset);
          await expect.poll(isFocused).toBe(true);
        }
        await page.getByRole('navigation').getByRole('link', { name: 'Find' }).click();
        await found(page, 'The newest 25 events');
      },
      { query: `?q=${asset}` },
    ));

  it.each([
    ['light', 1000],
    ['dark', 320],
  ] as const)('has no barrier that axe finds, in %s colours and %i pixels wide', (colorScheme, width) =>
    visit(
      async (open, page) => {
        const fits = async () =>
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await found(page, '1 event');
        expect(await open.barriers()).toEqual([]);
        await fits();
        await open.picture('find');
        await page.getByRole('link', { name: 'Consent given' }).click();
        await page.getByRole('button', { name: 'Check the evidence' }).click();
        await open.trust(rig.running.service.rootFingerprint);
        await page.locator('.banner.verified').waitFor();
        expect(await open.barriers()).toEqual([]);
        await fits();
        await open.picture('conversation');
      },
      { query: '?operation=vcon_consent_accepted', colorScheme, width },
    ),
  );
});

/** The same evidence as the first operation of a bundle of several: it verifies, and no event is at its top. */
function movedBundle(zip: Uint8Array): Uint8Array {
  const files = Object.entries(unzipSync(zip)).filter(([path]) => !/^(?:index\.(?:html|json)|README\.txt)$/.test(path));
  const { identity } = JSON.parse(new TextDecoder().decode(Object.fromEntries(files)['event.json'])) as {
    identity: string;
  };
  const folder = '0001-moved';
  const moved = files.map(([path, bytes]) => [/^(?:log|keys)\//.test(path) ? path : `${folder}/${path}`, bytes]);
  return zipSync({ ...completeBundle(Object.fromEntries(moved), [{ number: 1, folder, identity }], false) });
}
