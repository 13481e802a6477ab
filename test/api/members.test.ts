import { createHmac } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { startOpenidProvider, type TestProvider } from '../support/openid-provider.js';
import { testBrowser } from '../support/test-browser.js';
import { linkIn, listMembers, type PeopleRig, startPeopleRig, trust } from './people-rig.js';
import { sendRequest } from './send-request.js';
import { type Client, clientWith } from './test-service.js';

const MEMBERS = '/archivist/iam/v1/members';
const VERIFIED = { email_verified: true };

let rig: PeopleRig;
/** Another tenancy, with a provider of its own that is up to no good. */
let foreignOwner: Client;
let foreign: TestProvider;
beforeAll(async () => {
  rig = await startPeopleRig();
  foreignOwner = await rig.running.client({ roles: ['OWNER'], otherTenancy: true });
  foreign = await startOpenidProvider([`${rig.url}/console/callback`]);
  await trust(rig.running, foreignOwner, foreign);
});
afterAll(async () => {
  await rig?.close();
  await foreign?.close();
});

const bearer = (token: string) => clientWith(rig.url, token);
const tokenOf = (account: string, more: object = {}, header: object = {}) =>
  rig.provider.token({ sub: account, email: `${account}@example.com`, ...VERIFIED, ...more }, header);
const status = async (token: string) => (await bearer(token).get('/archivist/v2/assets')).status;
const patch = (client: Client, identity: string, roles: unknown) =>
  sendRequest(rig.url, client, 'PATCH', `/archivist/iam/v1/${identity}`, { roles });
const act = (client: Client, identity: string, verb: 'activate' | 'deactivate') =>
  client.post(`/archivist/iam/v1/${identity}:${verb}`, undefined);

describe('a token of the organisation’s own provider', () => {
  it('is its member, with the roles that he has now', async () => {
    const { identity } = await rig.join('alice');
    const alice = bearer(await tokenOf('alice', { name: 'Alice now' }));
    const created = await alice.post('/archivist/v2/assets', { attributes: { arc_display_type: 'Call' } });
    expect(created.status).toBe(200);
    const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: { arc_display_type: 'x' } };
    const recorded = await alice.post(`/archivist/v2/${created.json['identity']}/events`, event);
    expect(recorded.json['principal_accepted']).toEqual({
      issuer: rig.provider.issuer,
      subject: 'alice',
      display_name: 'Alice now',
      email: 'alice@example.com',
    });
    expect((await alice.get(MEMBERS)).status).toBe(403);
    await patch(rig.owner, identity, ['OWNER']);
    expect((await alice.get(MEMBERS)).status).toBe(200);
    await patch(rig.owner, identity, []);
    expect((await alice.get(MEMBERS)).status).toBe(403);
  });

  it('needs no address in it, and takes no unverified one', async () => {
    await rig.join('betty');
    const of = (claims: object) => rig.provider.token({ sub: 'betty', ...claims });
    const email = 'betty@example.com';
    const good = [{}, { email, email_verified: true }, { email, email_verified: 'true' }];
    for (const claims of good) expect([claims, await status(await of(claims))]).toEqual([claims, 200]);
    const bad = [{ email, email_verified: false }, { email }, { email_verified: false }, { email, email_verified: 1 }];
    for (const claims of bad) expect([claims, await status(await of(claims))]).toEqual([claims, 401]);
  });

  it('is for us, of a member, of now, and by its provider’s key', async () => {
    await rig.join('carla');
    const { issuer, clientId } = rig.provider;
    expect(await status(await tokenOf('carla'))).toBe(200);
    const now = Math.floor(Date.now() / 1000);
    const other = newKeyPair({ type: 'rsa', bits: 2048 });
    const claims = { iss: issuer, aud: clientId, sub: 'carla', iat: now, exp: now + 600 };
    const signed = (key: typeof other.privateKey, header: object) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...header }).sign(key);
    const jwks = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: object[] };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const hs256 = (secret: string) => {
      const text = `${part({ alg: 'HS256', kid: 'of-the-provider' })}.${part(claims)}`;
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const jwk = await exportJWK(other.publicKey);
    const forged: Record<string, string> = {
      'another key': await signed(other.privateKey, { kid: 'of-the-provider' }),
      'a key of its own': await signed(other.privateKey, { kid: 'of-the-provider', jwk }),
      'no kid': await signed(other.privateKey, {}),
      'a kid that is a path': await signed(other.privateKey, { kid: '../../dev/null' }),
      jku: await signed(other.privateKey, { kid: 'x', jku: 'https://evil.example/keys' }),
      none: `${part({ alg: 'none' })}.${part(claims)}.`,
      'None, signed': `${part({ alg: 'None', kid: 'of-the-provider' })}.${part(claims)}.AAAA`,
      'HS256 with the public key': hs256(JSON.stringify(jwks.keys[0])),
      'HS256 with the client secret': hs256(rig.provider.clientSecret),
      crit: await tokenOf('carla', {}, { crit: ['exp'] }).catch(() => 'x.y.z'),
      'another type': await tokenOf('carla', {}, { typ: 'logout+jwt' }),
      'another audience': await tokenOf('carla', { aud: 'somebody-else' }),
      'an audience that begins like ours': await tokenOf('carla', { aud: `${clientId}2` }),
      'two audiences, asked for by another': await tokenOf('carla', { aud: [clientId, 'other'], azp: 'other' }),
      'two audiences, asked for by nobody': await tokenOf('carla', { aud: [clientId, 'other'] }),
      'nobody we know': await tokenOf('nobody'),
      'another case of the name': await tokenOf('Carla'),
      expired: await rig.provider.token({ sub: 'carla' }, { secondsLeft: -60 }),
      'not yet': await tokenOf('carla', { nbf: now + 600 }),
      'no subject': await rig.provider.token({ sub: '' }),
      'our own issuer': await tokenOf('carla', { iss: `${rig.url}/appidpv1` }),
      'an unknown issuer': await tokenOf('carla', { iss: 'https://idp.example' }),
      'an issuer with a slash': await tokenOf('carla', { iss: `${issuer}/` }),
      'too long': `${await tokenOf('carla', { padding: 'x'.repeat(20_000) })}`,
    };
    for (const [name, token] of Object.entries(forged)) expect([name, await status(token)]).toEqual([name, 401]);
    const azp = await tokenOf('carla', { aud: [clientId, 'other'], azp: clientId });
    expect(await status(azp)).toBe(200);
  });

  it('of another tenancy’s provider opens nothing here, whatever it claims to be', async () => {
    await rig.join('dora');
    const { issuer, clientId } = rig.provider;
    const stolen = { sub: 'dora', email: 'dora@example.com', ...VERIFIED };
    const claims = [
      stolen,
      { ...stolen, aud: clientId },
      { ...stolen, iss: issuer },
      { ...stolen, iss: issuer, aud: clientId },
    ];
    for (const each of claims) expect([each, await status(await foreign.token(each))]).toEqual([each, 401]);
    // Even with our own issuer among its settings: what signs is what the issuer itself publishes.
    await trust(rig.running, foreignOwner, { ...foreign, issuer });
    for (const each of claims) expect([each, await status(await foreign.token(each))]).toEqual([each, 401]);
    const visit = {
      'archivist-tenancy': String((await foreignOwner.get('/archivist/v1/tenancies/self')).json['identity']),
    };
    const elsewhere = await bearer(await tokenOf('dora')).get('/archivist/v2/assets', visit);
    expect(elsewhere.status).toBe(401);
    await trust(rig.running, foreignOwner, foreign);
  });

  it('is refused once the tenancy trusts its issuer no longer', async () => {
    await rig.join('emma');
    const token = await tokenOf('emma');
    const enable = (enabled: boolean) =>
      sendRequest(rig.url, rig.owner, 'PATCH', '/archivist/v1/tenancies/self', { enterprise_sso_enabled: enabled });
    expect(await status(token)).toBe(200);
    await enable(false);
    expect(await status(token)).toBe(401);
    await enable(true);
    expect(await status(token)).toBe(200);
  });
});

describe('the members', () => {
  it('are listed by state, in pages', async () => {
    const { identity } = await rig.join('fiona');
    await rig.join('gerda');
    await act(rig.owner, identity, 'deactivate');
    const states = async (query: string) => {
      const { json } = await rig.owner.get(`${MEMBERS}${query}`);
      return (json['members'] as { identity: string }[]).some((each) => each.identity === identity);
    };
    expect(await states('')).toBe(false);
    for (const state of ['UNSPECIFIED', 'ACTIVE'])
      expect(await states(`?member_state=MEMBER_STATE_${state}`)).toBe(false);
    for (const state of ['BOTH', 'INACTIVE']) expect(await states(`?member_state=MEMBER_STATE_${state}`)).toBe(true);
    expect((await rig.owner.get(`${MEMBERS}?member_state=ALL`)).status).toBe(400);
    const first = await rig.owner.get(`${MEMBERS}?page_size=1`, { 'x-request-total-count': 'true' });
    const active = (await listMembers(rig.owner)).filter((each) => each['active']).length;
    expect(Number(first.headers.get('x-total-count'))).toBe(active);
    const { page_token: token } = first.json;
    expect(token).toBe(first.json['next_page_token']);
    const second = await rig.owner.get(`${MEMBERS}?page_size=1&page_token=${token}`);
    expect(second.json['members']).not.toEqual(first.json['members']);
  });

  it('have the roles that are sent, and no others', async () => {
    const { identity } = await rig.join('hanna');
    expect((await patch(rig.owner, identity, ['OWNER', 'OWNER'])).json).toMatchObject({ identity, roles: ['OWNER'] });
    expect((await patch(rig.owner, identity, ['OWNER', 'ROLE_UNSPECIFIED'])).json).toMatchObject({ roles: ['OWNER'] });
    expect((await patch(rig.owner, identity, ['ROLE_UNSPECIFIED'])).json).toMatchObject({ roles: [], active: true });
    expect((await patch(rig.owner, identity, [])).json).toMatchObject({ roles: [], active: true });
    for (const roles of [['ADMIN'], 'OWNER', undefined, [5]])
      expect((await patch(rig.owner, identity, roles)).status).toBe(400);
    expect((await patch(foreignOwner, identity, ['OWNER'])).status).toBe(404);
    expect((await act(foreignOwner, identity, 'deactivate')).status).toBe(404);
  });

  it('lose their roles when they are deactivated, and get none back by being activated', async () => {
    const { identity } = await rig.join('irene', ['OWNER']);
    expect((await act(rig.owner, identity, 'deactivate')).json).toMatchObject({ active: false, roles: [] });
    expect((await patch(rig.owner, identity, ['OWNER'])).status).toBe(400);
    expect((await act(rig.owner, identity, 'activate')).json).toMatchObject({ active: true, roles: [] });
  });

  it('neither deactivate nor demote themselves', async () => {
    const { identity } = await rig.join('julia', ['OWNER']);
    const julia = bearer(await tokenOf('julia'));
    expect((await act(julia, identity, 'deactivate')).status).toBe(403);
    expect((await patch(julia, identity, [])).status).toBe(403);
    expect((await patch(julia, identity, ['OWNER'])).status).toBe(200);
    expect((await julia.get(MEMBERS)).status).toBe(200);
  });

  it('are shut out from the next request on', async () => {
    const { identity, browser } = await rig.join('karen');
    const token = await tokenOf('karen');
    const session = async () => (await browser.ask(`${rig.url}/archivist/v2/assets`)).status;
    expect([await status(token), await session()]).toEqual([200, 200]);
    await act(rig.owner, identity, 'deactivate');
    expect([await status(token), await session()]).toEqual([401, 401]);
    await act(rig.owner, identity, 'activate');
    expect([await status(token), await session()]).toEqual([200, 401]);
  });

  it('are deleted with name, address and subject, and come back only by an invite, as somebody new', async () => {
    const { identity, browser } = await rig.join('lydia');
    const { identity: julian } = await rig.join('julian', ['OWNER']);
    const [lydia, asJulian] = [bearer(await tokenOf('lydia')), bearer(await tokenOf('julian'))];
    await rig.owner.post('/archivist/v1/invites', { email: 'lydia@example.com' });
    const remove = (by: Client, member: string) => sendRequest(rig.url, by, 'DELETE', `/archivist/iam/v1/${member}`);
    expect([(await remove(lydia, julian)).status, (await remove(asJulian, julian)).status]).toEqual([403, 403]);
    const left = () =>
      rig.running.service.parts.database.inTransaction('system', async (tx) =>
        Promise.all(
          ['member', 'member_session', 'invite'].map(async (name) => {
            const rows = await tx.query<object>(`SELECT * FROM archivist.${name} r WHERE r::text LIKE '%lydia%'`);
            return rows.length;
          }),
        ),
      );
    expect(await left()).toEqual([1, 0, 1]);
    const removed = await remove(rig.owner, identity);
    expect([removed.status, removed.json]).toEqual([200, {}]);
    expect(await left()).toEqual([0, 0, 0]);
    expect((await remove(rig.owner, identity)).status).toBe(404);
    const session = (await browser.ask(`${rig.url}/archivist/v2/assets`)).status;
    expect([session, await status(await tokenOf('lydia'))]).toEqual([401, 401]);
    const again = await rig.join('lydia');
    expect([again.identity === identity, await status(await tokenOf('lydia'))]).toEqual([false, 200]);
  });

  it('always keep an Owner, even if Owners deactivate or delete each other at the same time', async () => {
    for (const round of [1, 2, 3, 4]) {
      const names = [`left${round}`, `right${round}`] as const;
      const [left, right] = [await rig.join(names[0], ['OWNER']), await rig.join(names[1], ['OWNER'])];
      const [asLeft, asRight] = [bearer(await tokenOf(names[0])), bearer(await tokenOf(names[1]))];
      const end = (by: Client, member: string) =>
        round % 2 === 0
          ? sendRequest(rig.url, by, 'DELETE', `/archivist/iam/v1/${member}`)
          : act(by, member, 'deactivate');
      const answers = await Promise.all([end(asLeft, right.identity), end(asRight, left.identity)]);
      expect(answers.filter((each) => each.status === 200).length).toBe(1);
      const still = (await listMembers(rig.owner)).filter(
        (each) => [left.identity, right.identity].includes(String(each['identity'])) && each['active'],
      );
      expect(still.map((each) => each['roles'])).toEqual([['OWNER']]);
    }
  });

  it('are changed by nobody whose application is gone', async () => {
    const { identity } = await rig.join('laura');
    const app = await rig.running.client({ roles: ['OWNER'] });
    await sendRequest(rig.url, rig.owner, 'DELETE', `/archivist/iam/v1/applications/${app.clientId}`);
    expect((await act(app, identity, 'deactivate')).status).toBe(401);
  });

  it('leave a trace in the audit of the tenancy', async () => {
    const { identity } = await rig.join('maria');
    await patch(rig.owner, identity, ['OWNER']);
    await act(rig.owner, identity, 'deactivate');
    const rows = await rig.running.service.parts.database.inTransaction('system', (tx) =>
      tx.query<{ action: string }>(
        `SELECT attributes ->> 'action' AS action FROM archivist.asset_free_event
          WHERE attributes ->> 'resource' = $1 ORDER BY event_id`,
        [identity],
      ),
    );
    expect(rows.map((row) => row.action)).toEqual(['member.join', 'member.set_roles', 'member.deactivate']);
  });
});

describe('the memberships', () => {
  it('of somebody are the tenancies that he is active in, and no one else’s', async () => {
    const { identity } = await rig.join('nora');
    const nora = bearer(await tokenOf('nora'));
    const tenancy = (await rig.owner.get('/archivist/v1/tenancies/self')).json;
    expect((await nora.get('/archivist/iam/v1/memberships')).json).toEqual({
      memberships: [{ identity, tenant_id: tenancy['identity'], display_name: tenancy['display_name'] }],
      next_page_token: '',
    });
  });
});

describe('the groups of a member', () => {
  it('are those that his provider tells of: in the token, or when the session was opened', async () => {
    const { json } = await rig.owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'Audited' } });
    const policy = {
      display_name: 'Auditors read',
      filters: [{ or: ['attributes.arc_display_type=Audited'] }],
      access_permissions: [{ user_attributes: [{ or: ['group:auditors'] }], asset_attributes_read: ['*'] }],
    };
    expect((await rig.owner.post('/archivist/iam/v1/access_policies', policy)).status).toBe(200);
    const path = `/archivist/v2/${json['identity']}`;
    const account = { email: 'rosa@example.com', email_verified: true, groups: ['auditors'] };
    await rig.join('rosa');
    const reads = async (groups: unknown) => (await bearer(await tokenOf('rosa', { groups })).get(path)).status;
    expect([await reads(['staff', 'auditors']), await reads(['staff']), await reads(undefined)]).toEqual([
      200, 404, 404,
    ]);
    expect([await reads('auditors'), await reads([['auditors']]), await reads({ 0: 'auditors' })]).toEqual([
      404, 404, 404,
    ]);
    const tenancy = String((await rig.owner.get('/archivist/v1/tenancies/self')).json['identity']);
    const readsSignedIn = async () => {
      const browser = testBrowser();
      await browser.open(`${rig.url}/console/sign-in?tenancy=${tenancy}`, 'rosa');
      return (await browser.ask(`${rig.url}${path}`)).status;
    };
    expect(await readsSignedIn()).toBe(404);
    rig.provider.accounts.set('rosa', account);
    expect(await readsSignedIn()).toBe(200);
  });
});

describe('a member of two tenancies', () => {
  it('acts in the tenancy that the request names, or in the only one where the token is valid, and in no other', async () => {
    const { identity } = await rig.join('paula');
    const second = await rig.running.client({ roles: ['OWNER'], otherTenancy: true });
    await trust(rig.running, second, rig.provider);
    await second.post('/archivist/v1/invites', { email: 'paula@example.com' });
    await testBrowser().open(linkIn(rig.mails.at(-1)!.text), 'paula');
    const tenancyOf = async (owner: Client) => (await owner.get('/archivist/v1/tenancies/self')).json['identity'];
    const [here, there] = [String(await tenancyOf(rig.owner)), String(await tenancyOf(second))];
    const paula = bearer(await tokenOf('paula'));
    const saysHere = { 'archivist-tenancy': here };
    const memberships = (await paula.get('/archivist/iam/v1/memberships', saysHere)).json['memberships'];
    expect(memberships).toMatchObject([{ identity, tenant_id: here }, { tenant_id: there }]);
    const madeIn = async (headers: Record<string, string>) => {
      const { status: code, json } = await paula.post('/archivist/v2/assets', { attributes: {} }, headers);
      return code === 200 ? json['tenant_identity'] : code;
    };
    const tenant = (tenancy: string) => tenancy.replace('tenancies/', 'tenant/');
    const unnamed = await paula.post('/archivist/v2/assets', { attributes: {} });
    const words = `The access token is valid in several tenancies. Name one in the header archivist-tenancy: ${here}, ${there}.`;
    expect([unnamed.status, unnamed.json['description']]).toEqual([401, words]);
    expect(await madeIn(saysHere)).toBe(tenant(here));
    expect(await madeIn({ 'archivist-tenancy': there })).toBe(tenant(there));
    const foreignTenancy = String(await tenancyOf(foreignOwner));
    for (const wrong of [foreignTenancy, 'tenancies/x', ''])
      expect(await madeIn({ 'archivist-tenancy': wrong })).toBe(401);
    // An audience of its own: a token for the first tenancy counts only there.
    await trust(rig.running, second, { ...rig.provider, clientId: 'another' });
    expect([await madeIn({}), await madeIn({ 'archivist-tenancy': there })]).toEqual([tenant(here), 401]);
    await trust(rig.running, second, rig.provider);
    // A disabled tenancy does not count.
    const disabled = there.replace('tenancies/', '');
    await rig.running.asOwner(`UPDATE archivist.tenancy SET disabled_at = now() WHERE tenant_id = '${disabled}'`);
    expect(await madeIn({})).toBe(tenant(here));
    await rig.running.asOwner('UPDATE archivist.tenancy SET disabled_at = NULL');
    // The service can have seen it disabled, and looks again within a second.
    await expect.poll(() => madeIn({ 'archivist-tenancy': there }), { timeout: 10_000 }).toBe(tenant(there));
    expect(await madeIn({})).toBe(401);
    await act(rig.owner, identity, 'deactivate');
    expect([await madeIn({}), await madeIn(saysHere)]).toEqual([tenant(there), 401]);
  });
});

describe('the settings of a provider', () => {
  const set = (config: object) =>
    sendRequest(rig.url, foreignOwner, 'PATCH', '/archivist/v1/tenancies/self', { enterprise_sso_config: config });

  it('never show the secret, and keep it for its issuer alone', async () => {
    const { json } = await foreignOwner.get('/archivist/v1/tenancies/self');
    expect(json).toMatchObject({
      enterprise_sso_enabled: true,
      enterprise_sso_config: { issuer: foreign.issuer, client_id: 'console', client_secret: '', audience: 'console' },
    });
    const stored = () =>
      rig.running.service.parts.database.inTransaction('system', (tx) =>
        tx.query<{ issuer: string; sealed: string }>(
          'SELECT issuer, client_secret_sealed AS sealed FROM archivist.identity_provider',
        ),
      );
    expect(JSON.stringify(await stored())).not.toContain(foreign.clientSecret);
    await set({ issuer: 'https://idp.example' });
    expect((await stored()).find((row) => row.issuer === 'https://idp.example')?.sealed).toBe('');
    await trust(rig.running, foreignOwner, foreign);
  });

  it('name the issuer by its config_url too, and keep the slash at the end of a known one', async () => {
    const config_url = 'https://idp.example/.well-known/openid-configuration';
    const issuerAfter = async (config: object) => {
      expect((await set({ client_id: 'x', ...config })).status).toBe(200);
      const { json } = await foreignOwner.get('/archivist/v1/tenancies/self');
      return (json['enterprise_sso_config'] as { issuer: string }).issuer;
    };
    expect(await issuerAfter({ config_url })).toBe('https://idp.example');
    expect(await issuerAfter({ issuer: 'https://idp.example/' })).toBe('https://idp.example/');
    expect(await issuerAfter({ config_url, client_id: 'y' })).toBe('https://idp.example/');
    await trust(rig.running, foreignOwner, foreign);
  });

  it('name an issuer that describes itself', async () => {
    const wrong = [
      { issuer: 'idp.example' },
      { issuer: 'ftp://idp.example' },
      { issuer: 'https://user@idp.example' },
      { issuer: 'https://idp.example/?x=1' },
      { issuer: 'https://idp.example', config_url: 'https://evil.example/.well-known/openid-configuration' },
      { issuer: `${rig.url}/appidpv1` },
    ];
    for (const config of wrong) {
      const { status: code, json } = await set({ client_id: 'x', ...config });
      expect([config, code, json['description']]).toEqual([
        config,
        400,
        expect.stringMatching(/^enterprise_sso_config\./),
      ]);
    }
  });

  it('are the Owners’ business', async () => {
    await rig.join('olga');
    const olga = bearer(await tokenOf('olga'));
    const body = { enterprise_sso_config: { issuer: 'https://evil.example', client_id: 'x' } };
    expect((await sendRequest(rig.url, olga, 'PATCH', '/archivist/v1/tenancies/self', body)).status).toBe(403);
    expect((await olga.get('/archivist/v1/tenancies/self')).status).toBe(403);
  });
});
