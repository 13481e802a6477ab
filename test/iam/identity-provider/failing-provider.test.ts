import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAuthenticateMember } from '../../../src/iam/members/authenticate-member.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { createLogger } from '../../../src/platform/logger.js';
import { sendRequest } from '../../api/send-request.js';
import { startTestService, type TestService } from '../../api/test-service.js';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const { publicKey, privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
const json = (body: unknown, status = 200): Answer => ({ status, body: JSON.stringify(body) });

let running: TestService;
let provider: Server;
let issuer: string;
/** By path; a test replaces the ones that it is about. */
let answers: Record<string, Answer>;
let usual: Record<string, Answer>;

beforeAll(async () => {
  provider = createServer((request, response) => {
    const { status, body, headers } = answers[request.url!.split('?')[0]!] ?? json({}, 404);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const document = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
  const algorithms = { id_token_signing_alg_values_supported: ['ES256'] };
  usual = {
    '/.well-known/openid-configuration': json({ ...document, ...algorithms, jwks_uri: `${issuer}/jwks` }),
    '/jwks': json({ keys: [{ ...(await exportJWK(publicKey)), kid: 'known', alg: 'ES256' }] }),
  };
  running = await startTestService({ PRIVATE_IDENTITY_PROVIDERS: 'allow' });
  const config = { issuer, client_id: 'console', client_secret: 'a secret that the provider knew' };
  const path = '/archivist/v1/tenancies/self';
  const { status } = await sendRequest(running.url, running.owner, 'PATCH', path, { enterprise_sso_config: config });
  expect(status).toBe(200);
});
beforeEach(() => {
  answers = { ...usual };
});
afterAll(async () => {
  await running?.close();
  provider?.close();
});

async function send(kid: string, claims: object = {}): Promise<Response> {
  const token = await new SignJWT({ iss: issuer, sub: 'alice', aud: 'console', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setExpirationTime('1h')
    .sign(privateKey);
  return fetch(`${running.url}/archivist/iam/v1/principal`, { headers: { authorization: `Bearer ${token}` } });
}

describe('a token whose provider', () => {
  // In this order: keys that were read once are kept.
  it.each([
    ['describes itself with status 500', '/.well-known/openid-configuration', json({}, 500)],
    ['describes itself as another one', '/.well-known/openid-configuration', json({ issuer: 'https://other.example' })],
    ['publishes keys with status 500', '/jwks', json({}, 500)],
    ['publishes a page instead of keys', '/jwks', { status: 200, body: '<p>' }],
    ['publishes no list of keys', '/jwks', json({})],
  ])('%s is answered with 503, because nothing is known of it', async (_, path, answer) => {
    answers[path] = answer;
    const refused = await send('known');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await refused.json()).toMatchObject({
      error: 'unavailable',
      description: expect.stringContaining('identity provider'),
    });
  });

  it('has no such key is refused, as one of nobody is', async () => {
    expect((await send('unknown')).status).toBe(401);
    expect((await send('known')).status).toBe(401);
  });
});

describe('a token that its provider has signed', () => {
  it.each(['identity_provider', 'member'])(
    'is not called invalid while the database has no table %s',
    async (table) => {
      await running.asOwner(`ALTER TABLE archivist.${table} RENAME TO away`);
      const answer = await send('known');
      await running.asOwner(`ALTER TABLE archivist.away RENAME TO ${table}`);
      expect([answer.status, await answer.json()]).toEqual([500, expect.objectContaining({ error: 'internal' })]);
      expect((await send('known')).status).toBe(401);
    },
  );

  it.each([[''], ['a\u0000'], [7], [['alice']], [{ a: 1 }], [null]])(
    'is of nobody if its subject is %j',
    async (sub) => {
      expect((await send('known', { sub })).status).toBe(401);
    },
  );

  it('is refused if its issuer is a name that no database can hold', async () => {
    expect((await send('known', { iss: 'https://idp.example/\u0000' })).status).toBe(401);
  });

  it('is of its member, unless the provider has not verified the address', async () => {
    const owner = String(decodeJwt(running.owner.token)['jit_tenant_id']).slice('tenant/'.length);
    await running.asOwner(
      `INSERT INTO archivist.member (tenant_id, member_id, issuer, subject, display_name, email, roles, active, created_at)
       VALUES ('${owner}', gen_random_uuid(), '${issuer}', 'alice', 'Alice', 'a@example.com', '{}', true, now())`,
    );
    const verified = await send('known', { email: 'a@example.com', email_verified: true });
    expect([verified.status, await verified.json()]).toEqual([200, expect.objectContaining({ kind: 'member' })]);
    expect((await send('known', { email: 'a@example.com', email_verified: false })).status).toBe(401);
    expect((await send('known', { email: 'a@example.com' })).status).toBe(401);
  });
});

describe('a token that is refused', () => {
  it.each([
    [{ aud: 'account' }, 40, 'its audience (aud) is account, and not only console'],
    [{ aud: ['console', 'account'] }, 40, 'its audience (aud) is console, account, and not only console'],
    [{ aud: 'console', sub: 'nobody' }, 30, 'no active member has its subject'],
    [{ aud: 'console', email: 'a@example.com' }, 40, 'the address is not verified'],
    [undefined, 30, 'expired'],
  ])('has its reason in the log: %j', async (claims, level, reason) => {
    const lines: { level: number; err: { message: string } }[] = [];
    const verify = claims ? async () => ({ sub: 'alice', ...claims }) : () => Promise.reject(new Error('expired'));
    const logger = createLogger('info', { destination: { write: (line) => lines.push(JSON.parse(line)) } });
    const { database } = running.service.parts;
    const token = await new SignJWT({ iss: issuer }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const refused = createAuthenticateMember({ database, tokens: { verify }, logger })(token, undefined);
    await expect(refused).rejects.toMatchObject({ code: 'unauthorized' });
    expect(lines.map((line) => [line.level, line.err.message])).toEqual([[level, reason]]);
  });
});

describe('a sign-in', () => {
  it('with a client secret that cannot be decrypted goes to no provider, and says what to do', async () => {
    const set = (sql: string) =>
      running.asOwner(`UPDATE archivist.identity_provider SET client_secret_sealed = ${sql}`);
    await set(`client_secret_sealed || 'x'`);
    const begun = await fetch(`${running.url}/console/sign-in`, { redirect: 'manual' });
    await set(`left(client_secret_sealed, -1)`);
    expect([begun.status, begun.headers.get('location'), await begun.text()]).toEqual([
      503,
      null,
      expect.stringContaining('An Owner of your organisation must set it again.'),
    ]);
  });
});

/** A sign-in up to the provider's answer, whose ID token has these claims, unless the answer is an error. */
async function signedIn(claims: object, answer = 'code=c'): Promise<Response> {
  const begun = await fetch(`${running.url}/console/sign-in`, { redirect: 'manual' });
  const query = new URL(begun.headers.get('location')!).searchParams;
  const cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!;
  const named = { iss: issuer, sub: 'alice', aud: 'console', nonce: query.get('nonce'), ...claims };
  const idToken = await new SignJWT(named)
    .setProtectedHeader({ alg: 'ES256', kid: 'known' })
    .setIssuedAt()
    .setExpirationTime('exp' in claims ? Number(claims.exp) : '1h')
    .sign(privateKey);
  answers['/token'] ??= json({ access_token: 'a', token_type: 'Bearer', id_token: idToken });
  const callback = `${running.url}/console/callback?${answer}&state=${query.get('state')}`;
  return fetch(callback, { headers: { cookie }, redirect: 'manual' });
}
const VERIFIED = { email: 'a@example.com', email_verified: true };
const describedWith = (more: object) => {
  const { body } = usual['/.well-known/openid-configuration']!;
  answers['/.well-known/openid-configuration'] = json({ ...JSON.parse(body), ...more });
};

describe('a sign-in, with settings that do not fit the provider,', () => {
  it.each([
    ['another issuer', () => json({ issuer: 'https://other.example' }), 'calls itself https://other.example: both'],
    ['another slash at the end of the issuer', () => json({ issuer: `${issuer}/` }), 'including a slash at the end'],
    ['no discovery document', () => json({}, 404), 'is not the discovery document of a provider (status 404)'],
    [
      'a page instead of it',
      () => ({ status: 200, body: '<p>', headers: { 'content-type': 'text/html' } }),
      'is not the discovery document',
    ],
    ['a redirect', () => ({ status: 302, body: '', headers: { location: '/' } }), 'the server redirects'],
    ['a server in trouble', () => json({}, 500), 'does not answer now'],
  ])('says that there is %s', async (_, answer, says) => {
    answers['/.well-known/openid-configuration'] = answer();
    const begun = await fetch(`${running.url}/console/sign-in`, { redirect: 'manual' });
    expect([begun.status, await begun.text()]).toEqual([503, expect.stringContaining(says)]);
  });

  it.each([
    [
      'error=unauthorized_client&error_description=No+standard+%3Cflow%3E.',
      'unauthorized_client, No standard &#60;flow&#62;. An Owner',
    ],
    ['error=invalid_scope', 'refuses sign-ins to this service: invalid_scope. An Owner'],
    ['error=temporarily_unavailable', 'does not answer now'],
  ])('says what the provider answers: %s', async (answer, says) => {
    const ended = await signedIn({}, answer);
    expect([ended.status, await ended.text()]).toEqual([503, expect.stringContaining(says)]);
  });

  it.each([
    ['an expired ID token', { ...VERIFIED, exp: Date.now() / 1000 - 60 }, 400, 'The clocks of the identity provider'],
    ['an ID token for others', { ...VERIFIED, aud: 'other' }, 400, 'The reason: unexpected JWT'],
    ['no address', {}, 403, 'it names none in the claim email. Ask its administrator'],
    ['an unverified address', { ...VERIFIED, email_verified: false }, 403, 'the claim email_verified is not true'],
    [
      'somebody else',
      { ...VERIFIED, sub: 'bob', email: 'b@example.com' },
      403,
      'signs you in as b@example.com. To use another',
    ],
  ])('says that it gets %s', async (_, claims, status, says) => {
    const ended = await signedIn(claims);
    expect([ended.status, await ended.text()]).toEqual([status, expect.stringContaining(says)]);
  });
});

describe('the groups of a person who signs in', () => {
  const groupsOf = async (ended: Response) => {
    expect([ended.status, await ended.text()]).toEqual([302, '']);
    const rows = await running.service.parts.database.inTransaction('system', (tx) =>
      tx.query<{ groups: string[] }>('SELECT groups FROM archivist.member_session ORDER BY expires_at DESC LIMIT 1'),
    );
    return rows[0]!.groups;
  };

  it('come from the ID token, or else from the userinfo endpoint, and are empty if that fails', async () => {
    expect(await groupsOf(await signedIn({ ...VERIFIED, groups: ['a'] }))).toEqual(['a']);
    delete answers['/token'];
    describedWith({ userinfo_endpoint: `${issuer}/userinfo` });
    answers['/userinfo'] = json({ sub: 'alice', email: 'other@example.com', groups: ['b'] });
    expect(await groupsOf(await signedIn(VERIFIED))).toEqual(['b']);
    delete answers['/token'];
    answers['/userinfo'] = json({}, 500);
    expect(await groupsOf(await signedIn(VERIFIED))).toEqual([]);
  });

  it('are requested as a scope if the provider lists it, and no more once it refuses that', async () => {
    describedWith({ scopes_supported: ['openid', 'groups'] });
    const again = await signedIn({}, 'error=invalid_scope');
    const [begun, location] = [again.headers.getSetCookie()[0], new URL(again.headers.get('location')!)];
    expect([again.status, location.pathname, location.searchParams.get('scope')]).toEqual([
      302,
      '/authorize',
      'openid email profile',
    ]);
    const ended = await fetch(
      `${running.url}/console/callback?error=invalid_scope&state=${location.searchParams.get('state')}`,
      { headers: { cookie: begun!.split(';')[0]! }, redirect: 'manual' },
    );
    expect([ended.status, await ended.text()]).toEqual([503, expect.stringContaining('invalid_scope')]);
  });
});

describe('a sign-in whose provider', () => {
  it.each([
    ['refuses the client secret', json({ error: 'invalid_client' }, 401), 503, 'the secret may have expired'],
    [
      'refuses the client secret as HTTP does',
      { ...json({ error: 'invalid_client' }, 401), headers: { 'www-authenticate': 'Basic realm="token"' } },
      503,
      'the secret may have expired',
    ],
    [
      'wants another kind of request',
      json({ error: 'invalid_request', error_description: 'no DPoP' }, 400),
      503,
      'no DPoP',
    ],
    ['fails', json({}, 500), 503, 'does not answer now'],
    ['redirects', { status: 302, body: '', headers: { location: '/' } }, 503, 'does not answer now'],
    [
      'shows a page',
      { status: 200, body: '<p>', headers: { 'content-type': 'text/html' } },
      503,
      'does not answer now',
    ],
    ['has forgotten the code', json({ error: 'invalid_grant' }, 400), 400, 'did not confirm'],
    ['gives no ID token', json({ access_token: 'a', token_type: 'Bearer' }), 400, 'did not confirm'],
  ])('%s says what to do', async (_, answer, status, says) => {
    answers['/token'] = answer;
    const begun = await fetch(`${running.url}/console/sign-in`, { redirect: 'manual' });
    const state = new URL(begun.headers.get('location')!).searchParams.get('state');
    const cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!;
    const ended = await fetch(`${running.url}/console/callback?code=c&state=${state}`, { headers: { cookie } });
    expect([ended.status, await ended.text()]).toEqual([status, expect.stringContaining(says)]);
  });
});
