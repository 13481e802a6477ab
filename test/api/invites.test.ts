import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInvite } from '../../src/iam/invites/write-invite.js';
import { createActTurns } from '../../src/iam/security/act-turns.js';
import { openRefusedActs } from '../../src/iam/security/refused-acts.js';
import { openAttemptLimiter } from '../../src/platform/attempt-limiter.js';
import type { Principal } from '../../src/platform/http/principal.js';
import { createLogger } from '../../src/platform/logger.js';
import { testBrowser } from '../support/test-browser.js';
import { linkIn, listMembers, type PeopleRig, startPeopleRig } from './people-rig.js';
import { sendRequest } from './send-request.js';

const INVITES = '/archivist/v1/invites';
const BOTH = ['/archivist/v1/invites', '/archivist/iam/v1/invites'];

let rig: PeopleRig;
beforeAll(async () => {
  rig = await startPeopleRig();
});
afterAll(() => rig?.close());

const verified = (name: string) => {
  rig.provider.accounts.set(name, { email: `${name}@example.com`, email_verified: true, name });
  return `${name}@example.com`;
};
const isMember = async (email: string) => (await listMembers(rig.owner)).some((each) => each['email'] === email);
const pending = async () =>
  ((await rig.owner.get(`${INVITES}?page_size=1000`)).json['invites'] as { email: string }[]).map((each) => each.email);

/** What a process needs to send so many invites, and an Owner who sends them. */
async function sending(attempts: number, sendMail: (mail: { to: string }) => Promise<void>) {
  const { service, owner, url } = rig.running;
  const { database, clock, ids, keyring } = service.parts;
  const logger = createLogger('silent');
  const invited = openAttemptLimiter({ name: 'invite', attempts, seconds: 3_600, redisUrl: undefined, logger });
  const shared = { database, clock, ids, logger, publicUrl: url, pepper: keyring.pepper };
  const deps = { ...shared, sendMail, invited, refusedActs: openRefusedActs(logger), actTurns: createActTurns() };
  const { json } = await owner.get('/archivist/iam/v1/principal');
  const principal = {
    tenantId: String(json['tenant_identity']).slice('tenant/'.length),
    issuer: String(json['issuer']),
    subject: owner.clientId,
    displayName: 'An Owner',
    email: '',
    roles: ['OWNER'],
    kind: 'application' as const,
    claims: {},
  };
  return { deps, principal };
}

describe('an invite', () => {
  it.each(BOTH)('is sent by e-mail, and is there by %s until it is withdrawn', async (path) => {
    const { status, json } = await rig.owner.post(path, { email: 'someone@example.com', message: 'Come and see' });
    expect([status, json]).toEqual([
      200,
      {
        identity: expect.stringMatching(/^invites\/[0-9a-f-]{36}$/),
        email: 'someone@example.com',
        message: 'Come and see',
        expiry_time: expect.stringMatching(/Z$/),
      },
    ]);
    const mail = rig.mails.at(-1)!;
    expect(mail.to).toEqual(['someone@example.com']);
    expect(mail.text).toContain('Come and see');
    const item = `${path}/${String(json['identity']).slice('invites/'.length)}`;
    for (const each of BOTH) expect(await pathOf(each, json)).toEqual([200, json]);
    expect(JSON.stringify(await rig.owner.get(item))).not.toContain('token');
    expect((await sendRequest(rig.url, rig.owner, 'DELETE', item)).json).toEqual({});
    expect((await rig.owner.get(item)).status).toBe(404);
    expect((await testBrowser().open(linkIn(mail.text))).status).toBe(404);
  });

  it('is found by its address, in a list newest first or by address', async () => {
    for (const name of ['listed.a', 'listed.b']) await rig.owner.post(INVITES, { email: `${name}@example.com` });
    const listed = async (query: string) =>
      ((await rig.owner.get(`${INVITES}?${query}`)).json['invites'] as { email: string }[])
        .map((each) => each.email)
        .filter((email) => email.startsWith('listed.'));
    expect(await listed('email=listed.a@example.com')).toEqual(['listed.a@example.com']);
    expect(await listed('order_by=DEFAULT')).toEqual(['listed.b@example.com', 'listed.a@example.com']);
    expect(await listed('order_by=DISPLAY_NAME')).toEqual(['listed.a@example.com', 'listed.b@example.com']);
    for (const wrong of ['order_by=SIZE', 'colour=red'])
      expect((await rig.owner.get(`${INVITES}?${wrong}`)).status).toBe(400);
  });

  it('replaces an earlier one to the same address, whose link ends', async () => {
    const links: string[] = [];
    for (const email of [verified('twice'), 'Twice@example.com']) {
      expect((await rig.owner.post(INVITES, { email })).status).toBe(200);
      links.push(linkIn(rig.mails.at(-1)!.text));
    }
    expect((await pending()).filter((email) => email.toLowerCase() === 'twice@example.com')).toEqual([
      'Twice@example.com',
    ]);
    expect((await testBrowser().open(links[0]!)).status).toBe(404);
    expect((await testBrowser().open(links[1]!, 'twice')).status).toBe(200);
  });

  it('is one of a hundred that a tenancy sends in an hour', async () => {
    const other = await startPeopleRig();
    try {
      for (let sent = 0; sent < 100; sent += 1)
        expect((await other.owner.post(INVITES, { email: `stranger${sent}@example.com` })).status).toBe(200);
      const { status, json, headers } = await other.owner.post(INVITES, { email: 'stranger@example.com' });
      expect([status, json['error']]).toEqual([429, 'rate_limited']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_000);
      expect(other.mails.length).toBe(100);
    } finally {
      await other.close();
    }
  });

  it('is one of as many if all are sent at the same time, and one that is not written takes no place', async () => {
    const sent: string[] = [];
    const { deps, principal } = await sending(3, async ({ to }) => void sent.push(to));
    const invite = (from: Principal, which: number | string) =>
      createInvite(deps, from, { email: `at-once-${which}@example.com` }).then(
        () => 'sent',
        (error: { code: string }) => error.code,
      );
    const refused = [
      { ...principal, roles: [] },
      { ...principal, subject: randomUUID() },
    ];
    for (let times = 0; times < 5; times += 1)
      for (const from of refused) expect(await invite(from, 'never')).toBe('forbidden');
    const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map((which) => invite(principal, which)));
    expect(outcomes.sort()).toEqual([...Array(3).fill('rate_limited'), ...Array(3).fill('sent')]);
    expect(sent).toHaveLength(3);
    deps.invited.close();
  });

  it('is the only one to its address, also if several are sent in the same millisecond', async () => {
    let written = 0;
    const { deps, principal } = await sending(3, async () => {
      written += 1;
      await expect.poll(() => written).toBe(3);
    });
    const clock = { ...deps.clock, now: () => 1_800_000_000_000 };
    const email = 'often@example.com';
    const made = await Promise.all([1, 2, 3].map(() => createInvite({ ...deps, clock }, principal, { email })));
    const { json } = await rig.owner.get(`${INVITES}?email=${email}`);
    expect(json['invites']).toEqual([expect.toBeOneOf(made)]);
    deps.invited.close();
  });

  it('replaces an earlier one of a process whose clock is ahead', async () => {
    const { deps, principal } = await sending(2, async () => undefined);
    const ahead = { ...deps.clock, now: () => deps.clock.now() + 2_000 };
    const email = 'ahead@example.com';
    await createInvite({ ...deps, clock: ahead }, principal, { email });
    const last = await createInvite(deps, principal, { email });
    expect((await rig.owner.get(`${INVITES}?email=${email}`)).json['invites']).toEqual([last]);
    deps.invited.close();
  });

  it('goes to one address, whatever is written into it', async () => {
    const before = rig.mails.length;
    const wrong = [
      '',
      'no address',
      'a@b',
      'a@example.com, b@example.com',
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com\nBcc: b@example.com',
      'A <a@example.com>',
      '"a b"@example.com',
      'a@example.com\u0000',
      'a@exаmple.com',
      `${'a'.repeat(250)}@example.com`,
      5,
    ];
    for (const email of wrong) {
      const { status, json } = await rig.owner.post(INVITES, { email });
      expect([email, status, json['description']]).toEqual([email, 400, expect.stringMatching(/^email: /)]);
    }
    expect(rig.mails.length).toBe(before);
  });

  it('writes no header by its message or by the name of the tenancy', async () => {
    const name = 'Evil\r\nBcc: b@example.com';
    await sendRequest(rig.url, rig.owner, 'PATCH', '/archivist/v1/tenancies/self', { display_name: name });
    await rig.owner.post(INVITES, { email: 'c@example.com', message: 'x\r\nBcc: b@example.com\r\n.\r\nQUIT' });
    await sendRequest(rig.url, rig.owner, 'PATCH', '/archivist/v1/tenancies/self', { display_name: 'Ours' });
    const { to, text } = rig.mails.at(-1)!;
    const headers = text.slice(0, text.indexOf('\r\n\r\n'));
    expect(to).toEqual(['c@example.com']);
    expect(headers).not.toMatch(/^bcc:/im);
    expect(headers.match(/^(to|subject|from):/gim)?.length).toBe(3);
  });

  async function pathOf(path: string, invite: Record<string, unknown>) {
    const { status, json } = await rig.owner.get(`${path}/${String(invite['identity']).slice('invites/'.length)}`);
    return [status, json];
  }
});

describe('the link of an invite', () => {
  it('makes whoever signs in with the address a member without any role, and is gone then', async () => {
    const email = verified('alice');
    const link = await rig.invite(email);
    const browser = testBrowser();
    const page = await browser.open(link, 'alice');
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/console']);
    const { text } = await browser.ask(`${rig.url}/archivist/iam/v1/principal`);
    expect(JSON.parse(text)).toMatchObject({ kind: 'member', email: 'alice@example.com' });
    const member = (await listMembers(rig.owner)).find((each) => each['email'] === email);
    expect(member).toEqual({
      identity: expect.stringMatching(/^members\//),
      display_name: 'alice',
      email,
      active: true,
      roles: [],
    });
    expect(await pending()).not.toContain(email);
    for (const again of [browser, testBrowser()]) expect((await again.open(link, 'alice')).status).toBe(404);
  });

  it('is good for the address alone, in any case of its letters', async () => {
    verified('mallory');
    const link = await rig.invite('Bob@Example.com');
    const refused = await testBrowser().open(link, 'mallory');
    expect([refused.status, await isMember('mallory@example.com')]).toEqual([403, false]);
    expect(await pending()).toContain('Bob@Example.com');
    verified('bob');
    expect((await testBrowser().open(link, 'bob')).status).toBe(200);
    expect(await isMember('bob@example.com')).toBe(true);
  });

  it('says that nobody can sign in while the tenancy has no identity provider', async () => {
    const link = await rig.invite(verified('ivy'));
    const enable = (enterprise_sso_enabled: boolean) =>
      sendRequest(rig.url, rig.owner, 'PATCH', '/archivist/v1/tenancies/self', { enterprise_sso_enabled });
    expect((await enable(false)).status).toBe(200);
    try {
      const page = await testBrowser().open(link, 'ivy');
      expect([page.status, page.text]).toEqual([
        409,
        expect.stringContaining('Nobody can sign in to this tenancy yet'),
      ]);
    } finally {
      await enable(true);
    }
    expect((await testBrowser().open(link, 'ivy')).status).toBe(200);
  });

  it('asks for an address that the provider has verified', async () => {
    const accounts = [{ email: 'carol@example.com', email_verified: false }, { email: 'carol@example.com' }, {}];
    const link = await rig.invite('carol@example.com');
    for (const account of accounts) {
      rig.provider.accounts.set('carol', account);
      expect([account, (await testBrowser().open(link, 'carol')).status]).toEqual([account, 403]);
    }
    // The sign of Kelvin folds to the letter k, and is none.
    const folded = await rig.invite('kim@example.com');
    rig.provider.accounts.set('kim', { email: '\u212aim@example.com', email_verified: true });
    expect((await testBrowser().open(folded, 'kim')).status).toBe(403);
    expect(await pending()).toEqual(expect.arrayContaining(['carol@example.com', 'kim@example.com']));
  });

  it('expires, before it is opened and while it is', async () => {
    const email = verified('dave');
    const link = await rig.invite(email);
    const browser = testBrowser();
    const atProvider = (await browser.ask(link)).headers.get('location')!;
    await rig.running.asOwner(
      `UPDATE archivist.invite SET expiry_time = now() - interval '1 s' WHERE email = '${email}'`,
    );
    expect((await testBrowser().open(link, 'dave')).status).toBe(404);
    expect((await browser.open(atProvider, 'dave')).status).toBe(403);
    expect(await isMember(email)).toBe(false);
  });

  it('makes one member of somebody who opens it twice at the same time', async () => {
    const email = verified('erin');
    const link = await rig.invite(email);
    const pages = await Promise.all([1, 2, 3].map(() => testBrowser().open(link, 'erin')));
    expect(pages.map((page) => page.status).sort()).toEqual([200, 403, 403]);
    expect((await listMembers(rig.owner)).filter((each) => each['email'] === email).length).toBe(1);
  });

  it('lets nobody in again who was deactivated', async () => {
    const { identity } = await rig.join('frank');
    const link = await rig.invite('frank@example.com');
    await rig.owner.post(`/archivist/iam/v1/${identity}:deactivate`, undefined);
    expect(await pending()).not.toContain('frank@example.com');
    expect((await testBrowser().open(link, 'frank')).status).toBe(404);
    expect((await testBrowser().open(await rig.invite('frank@example.com'), 'frank')).status).toBe(403);
  });

  it('is stored as a keyed hash only', async () => {
    const token = new URL(await rig.invite('greta@example.com')).searchParams.get('token')!;
    const rows = await rig.running.service.parts.database.inTransaction('system', (tx) =>
      tx.query('SELECT i::text AS all FROM archivist.invite i'),
    );
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});
