import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, exportJWK, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplication } from '../../src/iam/applications/create-application.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { clientWith, requestToken, startTestService, type TestService } from './test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

const ASSETS = '/archivist/v2/assets';

describe('the token endpoint', () => {
  it('issues an at+jwt with the claims of the interface for one hour', () => {
    const { token, clientId } = running.owner;
    const header = decodeProtectedHeader(token);
    expect(header).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      sub: clientId,
      client_id: clientId,
      iss: `${running.url}/appidpv1`,
      aud: `${running.url}/archivist`,
    });
    expect(claims['jit_tenant_id']).toMatch(/^tenant\/[0-9a-f-]{36}$/);
    expect(claims['jit_tier']).toBe('PREMIUM');
    expect(claims.exp! - claims.iat!).toBe(3600);
    expect(claims.jti).toBeTypeOf('string');
  });

  it('publishes the key that its kid names', async () => {
    const { json } = await running.anonymous.get('/.well-known/jwks.json');
    const keys = json['keys'] as { kid: string; use: string; d?: string }[];
    expect(keys.map((key) => key.kid)).toContain(decodeProtectedHeader(running.owner.token).kid);
    expect(keys.every((key) => key.use === 'sig' && key.d === undefined)).toBe(true);
  });

  it('answers a wrong secret and an unknown client alike: 401 invalid_client', async () => {
    const wrongSecret = { grant_type: 'client_credentials', client_id: running.owner.clientId, client_secret: 'no' };
    const unknown = { ...wrongSecret, client_id: 'nobody' };
    const answers = [await requestToken(running.url, wrongSecret), await requestToken(running.url, unknown)];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.json).toMatchObject({ error: 'invalid_client' });
      expect(answer.json['error_description']).toBe(answer.json['description']);
    }
    expect(answers[0]!.json).toEqual(answers[1]!.json);
  });

  it('takes client credentials by Basic as well, from clients that encode them as form members and from those that do not', async () => {
    const { database, keyring, clock, ids } = running.service.parts;
    const tenantId = String(decodeJwt(running.owner.token)['jit_tenant_id']).slice('tenant/'.length);
    const clientSecret = 'what `openssl rand -base64` and people make: 3+7/9%41=';
    const wanted = { tenantId, displayName: 'Bootstrapped', roles: [], clientSecret };
    const { application } = await database.inTransaction('system', (tx) =>
      createApplication(tx, { clock, ids, pepper: keyring.pepper }, wanted),
    );
    const statusOf = async (secret: string) => {
      const authorization = `Basic ${btoa(`${application.applicationId}:${secret}`)}`;
      return (await requestToken(running.url, { grant_type: 'client_credentials' }, { authorization })).status;
    };
    const encoded = new URLSearchParams({ '': clientSecret }).toString().slice(1);
    expect(await Promise.all([clientSecret, encoded, encoded.replaceAll('+', '%20')].map(statusOf))).toEqual([
      200, 200, 200,
    ]);
    expect(await statusOf('wrong')).toBe(401);
  });

  it.each([
    ['unsupported_grant_type', 'grant_type', { grant_type: 'password', username: 'a', password: 'b' }, {}],
    ['invalid_request', 'grant_type', { client_id: 'a', client_secret: 'b' }, {}],
    ['invalid_request', 'client_secret', { grant_type: 'client_credentials', client_secret: 'b' }, { basic: 'a:b' }],
    ['invalid_request', 'client_id', { grant_type: 'client_credentials', client_id: 'c' }, { basic: 'a:b' }],
  ])('answers 400 %s for a wrong %s', async (error, field, form, { basic }: { basic?: string }) => {
    const headers: Record<string, string> = basic ? { authorization: `Basic ${btoa(basic)}` } : {};
    const answer = await requestToken(running.url, form as Record<string, string>, headers);
    expect([answer.status, answer.json['error']]).toEqual([400, error]);
    expect(answer.json['error_description']).toMatch(new RegExp(`^${field}: `));
    expect(answer.json['description']).toBe(answer.json['error_description']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['grant_type', 'client_id', 'client_secret'])('answers 400 invalid_request for two of %s', async (name) => {
    const { clientId: id, clientSecret: secret } = running.owner;
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    const twice = [...Object.entries(form), [name, form[name as keyof typeof form]] as [string, string]];
    const answer = await requestToken(running.url, twice);
    expect([answer.status, answer.json['error'], answer.json['error_description']]).toEqual([
      400,
      'invalid_request',
      `${name}: must be given once`,
    ]);
  });

  it('takes the credentials of the form beside a Basic header that has no colon, and so no credentials', async () => {
    const { clientId: id, clientSecret: secret } = running.owner;
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    const headers = { authorization: `Basic ${btoa(id)}` };
    expect((await requestToken(running.url, form, headers)).status).toBe(200);
    expect((await requestToken(running.url, { grant_type: 'client_credentials' }, headers)).status).toBe(401);
  });

  it('answers exactly 200 with a bearer token and seconds that are a number, never to be stored', async () => {
    const { clientId, clientSecret } = await newClient();
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const answer = await requestToken(running.url, form);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      access_token: expect.any(String),
      expires_in: 3600,
      token_type: 'Bearer',
      client_secret_expires_at: expect.any(Number),
    });
    const days = (Number(answer.json['client_secret_expires_at']) - Date.now() / 1000) / 86_400;
    expect(days).toBeGreaterThan(364);
    expect(days).toBeLessThan(367);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

async function newClient() {
  const answer = await running.owner.post('/archivist/iam/v1/applications', { display_name: 'A client' });
  const [credential] = answer.json['credentials'] as { secret: string }[];
  return { clientId: String(answer.json['client_id']), clientSecret: credential!.secret };
}

describe('a request with a token that is not ours', () => {
  const parts = () => running.owner.token.split('.') as [string, string, string];
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  async function expectRefused(token: string) {
    const answer = await clientWith(running.url, token).get(ASSETS);
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ error: expect.any(String), description: expect.any(String) });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  }

  it('is refused as an invalid token, and a request without a token without that error', async () => {
    expect((await running.anonymous.get(ASSETS)).headers.get('www-authenticate')).toBe('Bearer');
    await expectRefused('noise');
    await expectRefused('a.b.c');
  });

  it('is refused when the signature is cut or the claims are changed', async () => {
    const [header, payload, signature] = parts();
    await expectRefused(`${header}.${payload}.`);
    await expectRefused(`${header}.${encode({ ...decodeJwt(running.owner.token), sub: 'x' })}.${signature}`);
  });

  it('is refused with padding, wherever it stands', async () => {
    const [header, payload, signature] = parts();
    for (const end of ['=', '==', '====']) await expectRefused(`${running.owner.token}${end}`);
    await expectRefused(`${header}==.${payload}.${signature}`);
    await expectRefused(`${header}.${payload}==.${signature}`);
  });

  it('is refused if its last character has other bits than the signature', async () => {
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const { token } = running.owner;
    const last = digits.indexOf(token.at(-1)!);
    const others = [...digits].filter((_, place) => place >> 4 === last >> 4 && place !== last);
    expect(others).toHaveLength(15);
    for (const other of others) await expectRefused(`${token.slice(0, -1)}${other}`);
  });

  it('is refused with alg none', async () => {
    const [, payload] = parts();
    await expectRefused(`${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`);
  });

  it('is refused with the public key as an HMAC secret', async () => {
    const { json } = await running.anonymous.get('/.well-known/jwks.json');
    const secret = new TextEncoder().encode(JSON.stringify((json['keys'] as unknown[])[0]));
    const claims = decodeJwt(running.owner.token);
    const { kid } = decodeProtectedHeader(running.owner.token);
    await expectRefused(
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: kid! }).sign(secret),
    );
  });

  it('is refused when the token brings its own key', async () => {
    const { privateKey, publicKey } = newKeyPair({ type: 'rsa', bits: 2048 });
    const claims = decodeJwt(running.owner.token);
    const { kid } = decodeProtectedHeader(running.owner.token);
    const jwk = await exportJWK(publicKey);
    await expectRefused(
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: kid!, jwk }).sign(privateKey),
    );
    await expectRefused(
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'ours' }).sign(privateKey),
    );
  });

  async function signedByUs(change: Record<string, unknown>, header = { typ: 'at+jwt' }) {
    return running.service.parts.keyring.signToken({ ...decodeJwt(running.owner.token), ...change }, header);
  }

  it('is accepted when we sign the same claims, so that the refusals below are for what they change', async () => {
    expect((await clientWith(running.url, await signedByUs({})).get(ASSETS)).status).toBe(200);
  });

  it('is refused when expired, for another audience or issuer, of another type, or without a tenancy', async () => {
    await expectRefused(await signedByUs({ exp: Math.floor(Date.now() / 1000) - 60 }));
    await expectRefused(await signedByUs({ aud: 'https://elsewhere/archivist' }));
    await expectRefused(await signedByUs({ aud: [`${running.url}/archivist`, 'https://elsewhere'] }));
    await expectRefused(await signedByUs({ iss: 'https://elsewhere/appidpv1' }));
    await expectRefused(await signedByUs({ jit_tenant_id: '' }));
    await expectRefused(await signedByUs({}, { typ: 'JWT' }));
  });
});

describe('the issuer of access tokens', () => {
  it('is found as its tokens name it, with keys that verify them', async () => {
    const { iss, aud } = decodeJwt(running.owner.token);
    const found = (await (await fetch(`${iss}/.well-known/openid-configuration`)).json()) as Record<string, string>;
    expect(found['issuer']).toBe(iss);
    const keys = createRemoteJWKSet(new URL(found['jwks_uri']!));
    const { protectedHeader } = await jwtVerify(running.owner.token, keys, { issuer: iss!, audience: aud! });
    expect(protectedHeader.alg).toBe('RS256');
    const metadata = await running.anonymous.get('/.well-known/oauth-authorization-server/appidpv1');
    expect(metadata.json).toEqual(found);
  });
});
