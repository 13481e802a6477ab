import { createHmac, createPublicKey, createSign, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { createPageTokens } from '../../src/platform/postgres/page-token.js';
import { type OwnTokenKey, ownTokenKey } from './own-token-key.js';
import { clientWith, startTestService, type TestService } from './test-service.js';

const ASSETS = '/archivist/v2/assets';
const APPLICATIONS = '/archivist/iam/v1/applications';

let running: TestService;
let keysDir: string;
let own: OwnTokenKey;
beforeAll(async () => {
  keysDir = await mkdtemp(join(tmpdir(), 'keys-'));
  running = await startTestService({ KEYS_DIR: keysDir });
  own = await ownTokenKey(keysDir, running.owner.token);
});
afterAll(async () => {
  await running?.close();
  await rm(keysDir, { recursive: true, force: true });
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);
const kid = () => decodeProtectedHeader(running.owner.token).kid!;

async function expectRefused(token: string): Promise<void> {
  const answer = await clientWith(running.url, token).get(ASSETS);
  expect([answer.status, answer.json['error']]).toEqual([401, 'unauthorized']);
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
}

/** A token of any header over the owner's claims, signed in any way. */
function compact(header: Record<string, unknown>, sign: (input: string) => Buffer): string {
  const input = `${encode(header)}.${encode(decodeJwt(running.owner.token))}`;
  return `${input}.${sign(input).toString('base64url')}`;
}

describe('the tables below', () => {
  it('change a token that is accepted', async () => {
    expect((await clientWith(running.url, await own.sign()).get(ASSETS)).status).toBe(200);
  });
});

describe('a token with another algorithm', () => {
  const none = () => Buffer.alloc(0);
  it.each(['none', 'None', 'NONE', 'nOnE', ''])('%j is refused', async (alg) => {
    await expectRefused(compact({ alg, typ: 'at+jwt', kid: kid() }, none));
    await expectRefused(compact({ alg, typ: 'at+jwt' }, none));
  });

  it('of the HMAC family with our public key as its secret is refused, however the key is written', async () => {
    const jwk = createPublicKey(own.key).export({ format: 'jwk' });
    const pem = createPublicKey(own.key).export({ type: 'spki', format: 'pem' }) as string;
    const secrets = [pem, pem.trim(), JSON.stringify(jwk), String(jwk.n), Buffer.from(String(jwk.n), 'base64url')];
    for (const alg of ['HS256', 'HS384', 'HS512'])
      for (const secret of [...secrets, ''])
        await expectRefused(
          compact({ alg, typ: 'at+jwt', kid: kid() }, (input) =>
            createHmac(alg.replace('HS', 'sha'), secret).update(input).digest(),
          ),
        );
  });

  it('of the RSA family by our very key is refused, for only RS256 is ours', async () => {
    for (const alg of ['RS384', 'RS512', 'PS256', 'PS384']) await expectRefused(await own.sign({}, { alg }));
  });

  it('said to be RS256 and signed by another key is refused', async () => {
    const { privateKey } = newKeyPair({ type: 'rsa', bits: 2048 });
    await expectRefused(
      compact({ alg: 'RS256', typ: 'at+jwt', kid: kid() }, (input) =>
        createSign('sha256').update(input).sign(privateKey),
      ),
    );
  });
});

describe('a token whose header', () => {
  it.each([
    ['../../../../etc/passwd'],
    ['/dev/null'],
    ["' OR '1'='1"],
    ["x'; DROP TABLE archivist.signing_key; --"],
    ['http://127.0.0.1:9/jwks.json'],
    ['__proto__'],
    ['constructor'],
    ['toString'],
    [''],
    ['\u0000'],
    ['x'.repeat(4000)],
    [7],
    [null],
    [['a']],
    [{ a: 1 }],
    [undefined],
  ])('names the key %j is refused', async (name) => {
    await expectRefused(await own.sign({}, { kid: name }));
  });

  it('names a key of ours that is for something else is refused', async () => {
    for (const role of ['issuer', 'statement_receipt', 'seal', 'note'] as const) {
      const [key] = running.service.parts.keyring.publicKeys([role]);
      await expectRefused(await own.sign({}, { kid: key!.keyId }));
    }
  });

  it.each([
    ['jwk', { kty: 'RSA' }],
    ['jku', 'http://127.0.0.1:9/jwks.json'],
    ['x5u', 'http://127.0.0.1:9/chain.pem'],
    ['x5c', ['MIIB']],
    ['crit', ['exp']],
    ['b64', true],
  ])('has a %s is refused, though our key signed it', async (name, value) => {
    const extra = name === 'crit' ? { crit: value, exp: 1 } : { [name]: value };
    await expectRefused(await own.sign({}, extra));
  });

  it.each(['JWT', 'jwt', 'application/jwt', 'id+jwt', undefined])('has the type %j is refused', async (typ) => {
    await expectRefused(await own.sign({}, { typ }));
  });
});

describe('a token of our key whose claims', () => {
  const elsewhere = 'https://elsewhere.example';
  it.each<[string, () => Record<string, unknown>]>([
    ['have another issuer', () => ({ iss: `${elsewhere}/appidpv1` })],
    ['have our issuer with a slash', () => ({ iss: `${running.url}/appidpv1/` })],
    ['have no issuer', () => ({ iss: undefined })],
    ['have another audience', () => ({ aud: `${elsewhere}/archivist` })],
    ['have an audience beside ours', () => ({ aud: [`${running.url}/archivist`, elsewhere] })],
    ['have our audience in a list', () => ({ aud: [`${running.url}/archivist`] })],
    ['have no audience', () => ({ aud: undefined })],
    ['have expired', () => ({ exp: now() - 10 })],
    ['never expire', () => ({ exp: undefined })],
    ['expire at a text', () => ({ exp: String(now() + 600) })],
    ['are not valid yet', () => ({ nbf: now() + 60 })],
    ['were issued in the future', () => ({ iat: now() + 60 })],
    ['were issued more than an hour ago', () => ({ iat: now() - 3700, exp: now() + 600 })],
    ['were issued at no time', () => ({ iat: undefined })],
    ['have no subject', () => ({ sub: undefined })],
    ['have a subject that is no client', () => ({ sub: 'root', client_id: 'root' })],
    ['have two clients', () => ({ client_id: '00000000-0000-4000-8000-000000000000' })],
    ['have no client', () => ({ client_id: undefined })],
    ['have no tenancy', () => ({ jit_tenant_id: undefined })],
    ['have a tenancy in capitals', () => ({ jit_tenant_id: String(decodeJwt(own_())['jit_tenant_id']).toUpperCase() })],
    ['have two tenancies', () => ({ jit_tenant_id: [decodeJwt(own_())['jit_tenant_id']] })],
    ['have an epoch that never was', () => ({ jit_epoch: 7 })],
    ['have an epoch that is no number', () => ({ jit_epoch: '0' })],
  ])('%s is refused', async (_name, change) => {
    await expectRefused(await own.sign(change()));
  });

  it('claim roles has none of them', async () => {
    const plain = await running.client({});
    const token = await (await ownTokenKey(keysDir, plain.token)).sign({ jit_roles: ['OWNER'], roles: ['OWNER'] });
    expect((await clientWith(running.url, token).get(APPLICATIONS)).status).toBe(403);
  });

  it('name the tenancy of somebody else has no rights there', async () => {
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const token = await own.sign({ jit_tenant_id: decodeJwt(stranger.token)['jit_tenant_id'] });
    expect((await clientWith(running.url, token).get(APPLICATIONS)).status).toBe(403);
  });

  const own_ = () => running.owner.token;
});

describe('a token in another shape', () => {
  it('is refused', async () => {
    const { token } = running.owner;
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const shapes = [
      `${token}.`,
      `.${token}`,
      `${header}.${payload}`,
      `${header}..${signature}`,
      `${header}.${payload}.${signature}.${signature}.${signature}`,
      `${header}=.${payload}.${signature}`,
      Buffer.from(JSON.stringify({ protected: header, payload, signature })).toString('base64url'),
      'a'.repeat(9000),
    ];
    for (const shape of shapes) await expectRefused(shape);
  });

  it('counts nowhere but in the Authorization header', async () => {
    const { token } = running.owner;
    const { anonymous } = running;
    expect((await anonymous.get(`${ASSETS}?access_token=${token}`)).status).toBe(401);
    expect((await anonymous.get(ASSETS, { cookie: `access_token=${token}` })).status).toBe(401);
    expect((await anonymous.get(ASSETS, { 'x-access-token': token })).status).toBe(401);
    expect((await anonymous.get(ASSETS, { authorization: `Token ${token}` })).status).toBe(401);
    expect((await anonymous.get(ASSETS, { 'proxy-authorization': `Bearer ${token}` })).status).toBe(401);
  });
});

describe('an identity in headers', () => {
  const smuggled = () => ({
    'x-forwarded-user': running.owner.clientId,
    'x-remote-user': running.owner.clientId,
    'x-forwarded-email': 'owner@example.com',
    'x-client-id': running.owner.clientId,
    'x-tenant-id': String(decodeJwt(running.owner.token)['jit_tenant_id']),
    'x-roles': 'OWNER',
    'x-client-cert': 'MIIB',
    'x-ssl-client-cert': 'MIIB',
    'x-ssl-client-verify': 'SUCCESS',
    'x-ssl-client-s-dn': 'CN=owner',
    'x-forwarded-client-cert': 'Subject="CN=owner"',
    'x-forwarded-for': '127.0.0.1',
    'x-http-method-override': 'DELETE',
    'x-original-url': APPLICATIONS,
  });

  it('is nobody without a token, and nobody else with one', async () => {
    expect((await running.anonymous.get(ASSETS, smuggled())).status).toBe(401);
    const plain = await running.client({});
    expect((await plain.get(APPLICATIONS, smuggled())).status).toBe(403);
    const { json } = await plain.post(ASSETS, { attributes: {} }, smuggled());
    const events = await plain.get(`/archivist/v2/${json['identity']}/events`);
    expect(events.json['events']).toMatchObject([{ principal_accepted: { subject: plain.clientId } }]);
  });
});

describe('a role that is taken away', () => {
  it('is gone for every act that commits after it, however many are under way', async () => {
    const { owner } = running;
    const { clientId } = await running.client({ roles: ['OWNER'] }).then((client) => (rival = client));
    const acts = Array.from({ length: 24 }, (_, place) =>
      rival.post(APPLICATIONS, { display_name: `racing ${place}` }),
    );
    const demotion = fetch(`${running.url}${APPLICATIONS}/${clientId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ roles: [] }),
    });
    const statuses = (await Promise.all(acts)).map(({ status }) => status);
    expect((await demotion).status).toBe(200);
    expect(statuses.every((status) => status === 200 || status === 403)).toBe(true);
    const { json } = await owner.get('/archivist/v1/security_events?outcome=success&page_size=1000');
    const entries = json['security_events'] as { attributes: Record<string, unknown> }[];
    const demoted = entries.findIndex(({ attributes }) => attributes['resource'] === `applications/${clientId}`);
    const later = entries.slice(0, demoted).map(({ attributes }) => attributes['actor'] as { subject: string });
    expect(later.filter(({ subject }) => subject === clientId)).toEqual([]);
    expect((await rival.get(APPLICATIONS)).status).toBe(403);
  });

  it('leaves one of two Owners who demote each other', async () => {
    const [one, other] = [await running.client({ roles: ['OWNER'] }), await running.client({ roles: ['OWNER'] })];
    const demote = (by: typeof one, whom: typeof one) =>
      fetch(`${running.url}${APPLICATIONS}/${whom.clientId}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${by.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ roles: [] }),
      });
    const answers = await Promise.all([demote(one, other), demote(other, one)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  let rival: Awaited<ReturnType<TestService['client']>>;
});

describe('the page token of a list', () => {
  it('is refused when it was forged, or is of another list or tenancy', async () => {
    const { owner } = running;
    for (let count = 0; count < 2; count += 1) await owner.post(APPLICATIONS, { display_name: 'paged' });
    const first = await owner.get(`${APPLICATIONS}?page_size=1`);
    const token = String(first.json['next_page_token']);
    const bytes = Buffer.from(token, 'base64url');
    const page = { list: 'applications', filters: [], pageSize: 1, after: randomUUID() };
    const flipped = [0, 12, 28].map((place) => bytes.map((byte, at) => (at === place ? byte ^ 1 : byte)));
    const forged = [
      ...flipped,
      ...[bytes.subarray(0, -1), bytes.subarray(0, 12), Buffer.from(JSON.stringify(page))],
      Buffer.from(createPageTokens(new TextEncoder().encode('key')).seal(page), 'base64url'),
    ];
    for (const each of forged) {
      const answer = await owner.get(`${APPLICATIONS}?page_token=${Buffer.from(each).toString('base64url')}`);
      expect([answer.status, answer.json['description']]).toEqual([
        400,
        'page_token: is not a token of this service; send a next_page_token as it was returned, or none',
      ]);
    }
    expect((await owner.get(`/archivist/v1/security_events?page_token=${token}`)).status).toBe(400);
    expect((await owner.get(`${APPLICATIONS}?page_token=${token}`)).status).toBe(200);
  });
});
