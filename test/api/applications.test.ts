import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from './raw-request.js';
import { sendRequest } from './send-request.js';
import {
  type Answer,
  type Client,
  clientWith,
  requestToken,
  startTestService,
  type TestService,
} from './test-service.js';

let running: TestService;
let owner: Client;
let plain: Client;
let stranger: Client;
beforeAll(async () => {
  running = await startTestService({ QUOTAS: 'applications=40' });
  owner = running.owner;
  plain = await running.client({});
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
});
afterAll(() => running?.close());

const APPLICATIONS = '/archivist/iam/v1/applications';
const SECURITY = '/archivist/v1/security_events';
const NOBODY = '00000000-0000-4000-8000-000000000000';

interface Registered {
  readonly path: string;
  readonly clientId: string;
  readonly secret: string;
  readonly answer: Answer;
}

async function register(body: Record<string, unknown> = {}, client = owner): Promise<Registered> {
  const answer = await client.post(APPLICATIONS, { display_name: 'A link', ...body });
  const clientId = String(answer.json['client_id']);
  return { path: `${APPLICATIONS}/${clientId}`, clientId, secret: secretOf(answer), answer };
}

/** Claims whose JSON has so many bytes, as near as values of this character come to it. */
function claimsOf(character: string, bytes: number): Record<string, string> {
  const claims: Record<string, string> = {};
  const size = () => Buffer.byteLength(JSON.stringify(claims));
  const width = Buffer.byteLength(character);
  for (let count = 10; size() + 250 * width + 14 < bytes; count += 1) claims[`c${count}`] = character.repeat(250);
  claims['rest'] = '';
  claims['rest'] = character.repeat(Math.floor((bytes - size()) / width));
  return claims;
}

const secretOf = ({ json }: Answer) => (json['credentials'] as { secret: string }[] | undefined)?.[0]?.secret ?? '';
const change = (path: string, body: unknown, client = owner) => sendRequest(running.url, client, 'PATCH', path, body);
const remove = (path: string, client = owner) => sendRequest(running.url, client, 'DELETE', path);
const token = (clientId: string, secret: string) =>
  requestToken(running.url, { grant_type: 'client_credentials', client_id: clientId, client_secret: secret });

async function clientOf({ clientId, secret }: Registered): Promise<Client> {
  const { json } = await token(clientId, secret);
  return clientWith(running.url, String(json['access_token']), clientId);
}

describe('an application', () => {
  it('is answered with its secret when it is made: 64 hex characters that hold for a year', async () => {
    const { answer, clientId, secret } = await register({ custom_claims: { serial: 'TL1' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.json).toMatchObject({
      identity: `applications/${clientId}`,
      display_name: 'A link',
      tenant_id: decodeJwt(owner.token)['jit_tenant_id'],
      custom_claims: { serial: 'TL1' },
      roles: [],
    });
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const [credential] = answer.json['credentials'] as { valid_from: string; valid_until: string }[];
    const [from, until] = [new Date(credential!.valid_from), new Date(credential!.valid_until)];
    expect(until.getUTCFullYear() - from.getUTCFullYear()).toBe(1);
    expect((await token(clientId, secret)).status).toBe(200);
  });

  it('is never answered with its secret again', async () => {
    const { path, secret, answer } = await register();
    const shown = [await owner.get(path), await change(path, { display_name: 'B' }), await owner.get(APPLICATIONS)];
    for (const { status, bytes } of shown) {
      expect(status).toBe(200);
      expect(new TextDecoder().decode(bytes)).not.toContain(secret);
    }
    expect(shown[0]!.json).toEqual({ ...answer.json, credentials: [{ ...firstCredential(answer), secret: '' }] });
  });

  it('keeps what a change does not name, and has its claims replaced as a whole', async () => {
    const { path } = await register({ custom_claims: { a: '1', b: '2' } });
    expect((await change(path, { display_name: 'Renamed' })).json).toMatchObject({
      display_name: 'Renamed',
      custom_claims: { a: '1', b: '2' },
    });
    expect((await change(path, { custom_claims: { c: '3' } })).json['custom_claims']).toEqual({ c: '3' });
    const masked = await change(`${path}?mask=display_name`, { display_name: 'Masked', custom_claims: {} });
    expect(masked.json).toMatchObject({ display_name: 'Masked', custom_claims: { c: '3' } });
    const emptied = await change(`${path}?mask=custom_claims,roles`, { roles: [] });
    const { display_name, custom_claims, roles } = emptied.json;
    expect([display_name, custom_claims, roles]).toEqual(['Masked', {}, []]);
  });

  it('gets none of what only the service sets', async () => {
    const forged = {
      tenant_id: decodeJwt(stranger.token)['jit_tenant_id'],
      identity: `applications/${NOBODY}`,
      client_id: NOBODY,
      credentials: [{ secret: 'a'.repeat(64), valid_until: '2999-01-01T00:00:00Z' }],
    };
    const made = await register(forged);
    expect(made.clientId).not.toBe(NOBODY);
    expect(made.answer.json['tenant_id']).toBe(decodeJwt(owner.token)['jit_tenant_id']);
    const { credentials, ...changed } = (await change(made.path, forged)).json;
    expect(changed).toMatchObject({ client_id: made.clientId, tenant_id: made.answer.json['tenant_id'] });
    expect(credentials).toEqual([{ ...firstCredential(made.answer), secret: '' }]);
    expect((await token(made.clientId, 'a'.repeat(64))).status).toBe(401);
    expect((await token(made.clientId, made.secret)).status).toBe(200);
  });

  it.each([
    ['jit_tenant_id'],
    ['jit_anything'],
    ['arc_display_name'],
    ['iss'],
    ['sub'],
    ['aud'],
    ['exp'],
    ['client_id'],
    ['email'],
    ['scope'],
    [''],
    ['x'.repeat(65)],
  ])('is refused with a custom claim named %j', async (name) => {
    const { answer } = await register({ custom_claims: { [name]: 'x' } });
    expect([answer.status, answer.json['error']]).toEqual([400, 'bad_request']);
    expect(answer.json['description']).toMatch(/^custom_claims/);
  });

  it.each([
    ['display_name: must not be empty', { display_name: '' }],
    ['display_name: must have at most 1024 characters', { display_name: 'x'.repeat(1025) }],
    ['display_name: must be a string', { display_name: 7 }],
    ['roles.0: must be one of ROLE_UNSPECIFIED, OWNER', { roles: ['ROOT'] }],
    ['custom_claims.groups: is a reserved claim; choose another name', { custom_claims: { groups: 'x' } }],
    ['roles: must be a JSON array', { roles: 'OWNER' }],
    ['custom_claims', { custom_claims: { a: 1 } }],
    ['custom_claims', { custom_claims: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`c${n}`, ''])) }],
    ['custom_claims', { custom_claims: claimsOf('x', 4097) }],
    ['custom_claims', { custom_claims: claimsOf('語', 4100) }],
  ])('is refused with a wrong %s', async (field, body) => {
    const { answer } = await register(body);
    expect(answer.status).toBe(400);
    expect(answer.json['description']).toMatch(new RegExp(`^${field}`));
  });

  it('has a token that the service accepts, however long its claims and its name may be', async () => {
    const named = { display_name: '\u0001'.repeat(1024), custom_claims: claimsOf('x', 4096) };
    const client = await clientOf(await register(named));
    expect(decodeJwt(client.token)).toMatchObject(named.custom_claims);
    expect((await client.get('/archivist/v2/assets')).status).toBe(200);
  });

  it('carries its custom claims in its tokens, as they are when the token is asked for', async () => {
    const made = await register({ custom_claims: { site: 'north' } });
    const before = await clientOf(made);
    await change(made.path, { custom_claims: { site: 'south' } });
    expect(decodeJwt(before.token)['site']).toBe('north');
    expect(decodeJwt((await clientOf(made)).token)['site']).toBe('south');
  });

  it('loses its secret when it gets a new one, and keeps the tokens that it holds', async () => {
    const made = await register();
    const client = await clientOf(made);
    const head = `POST ${made.path}:regenerate-secret HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${owner.token}`;
    const bytes = Buffer.from(`${head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    const answer = await rawRequest(running.url, bytes, 5000);
    expect(answer.status).toBe(200);
    const renewed = (JSON.parse(answer.body) as { credentials: { secret: string }[] }).credentials[0]!.secret;
    expect(renewed).toMatch(/^[0-9a-f]{64}$/);
    expect((await token(made.clientId, made.secret)).status).toBe(401);
    expect((await token(made.clientId, renewed)).status).toBe(200);
    expect((await client.post('/archivist/v2/assets', { attributes: {} })).status).toBe(200);
  });

  it('is deleted with {}, and its tokens are refused from then on', async () => {
    const made = await register();
    const client = await clientOf(made);
    const answer = await remove(made.path);
    expect([answer.status, answer.json]).toEqual([200, {}]);
    expect((await owner.get(made.path)).status).toBe(404);
    expect((await remove(made.path)).status).toBe(404);
    expect((await token(made.clientId, made.secret)).status).toBe(401);
    expect((await client.get('/archivist/v2/assets')).status).toBe(401);
    expect((await client.post('/archivist/v2/assets', { attributes: {} })).status).toBe(401);
  });

  it('that is the last Owner of its tenancy neither demotes nor deletes itself', async () => {
    const alone = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const own = `${APPLICATIONS}/${alone.clientId}`;
    for (const answer of [await change(own, { roles: [] }, alone), await remove(own, alone)])
      expect([answer.status, answer.json['description']]).toEqual([409, expect.stringContaining('must keep an Owner')]);
    const { path: other } = await register({ roles: ['OWNER'] }, alone);
    expect((await change(other, { roles: [] }, alone)).status).toBe(200);
    expect((await change(own, { roles: [] }, alone)).status).toBe(409);
    await change(other, { roles: ['OWNER'] }, alone);
    expect((await change(own, { roles: [] }, alone)).json).toMatchObject({ roles: [] });
  });

  it('and another one, the last two Owners, do not both go at once', async () => {
    for (const go of [(path: string, client: Client) => change(path, { roles: [] }, client), remove]) {
      const left = await running.client({ otherTenancy: true, roles: ['OWNER'] });
      const right = await clientOf(await register({ roles: ['OWNER'] }, left));
      const gone = await Promise.all([left, right].map((each) => go(`${APPLICATIONS}/${each.clientId}`, each)));
      expect(gone.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  it('is not there for the Owner of another tenancy, whatever he asks', async () => {
    const made = await register();
    expect((await stranger.get(made.path)).status).toBe(404);
    expect((await change(made.path, { display_name: 'Mine' }, stranger)).status).toBe(404);
    expect((await stranger.post(`${made.path}:regenerate-secret`, '')).status).toBe(404);
    expect((await remove(made.path, stranger)).status).toBe(404);
    const client = await clientOf(made);
    expect((await stranger.post(`${made.path}:revoke-tokens`, '')).status).toBe(404);
    expect((await client.get('/archivist/v2/assets')).status).toBe(200);
    expect((await token(made.clientId, made.secret)).status).toBe(200);
  });
});

describe('the list of applications', () => {
  it('is filtered by name, counted and paged', async () => {
    for (let count = 0; count < 3; count += 1) await register({ display_name: 'Listed' });
    const first = await owner.get(`${APPLICATIONS}?display_name=Listed&page_size=2`);
    expect(first.headers.get('x-total-count')).toBe('3');
    expect(first.json['applications']).toHaveLength(2);
    const second = await owner.get(`${APPLICATIONS}?page_token=${first.json['next_page_token']}`);
    expect(second.json['applications']).toHaveLength(1);
    expect(second.json['next_page_token']).toBe('');
    expect((await owner.get(`${APPLICATIONS}?colour=red`)).status).toBe(400);
  });

  it('goes on for nobody else with the token of a page', async () => {
    const { json } = await owner.get(`${APPLICATIONS}?page_size=1`);
    const answer = await stranger.get(`${APPLICATIONS}?page_token=${json['next_page_token']}`);
    expect([answer.status, answer.json['description']]).toEqual([
      400,
      'page_token: belongs to another list or to other filters; send the parameters of the request that returned it',
    ]);
  });
});

describe('the role of an application', () => {
  it('counts from the next request on, for the tokens that it holds', async () => {
    const made = await register({ roles: ['OWNER', 'ROLE_UNSPECIFIED'] });
    expect(made.answer.json['roles']).toEqual(['OWNER']);
    const client = await clientOf(made);
    expect((await client.get(APPLICATIONS)).status).toBe(200);
    expect((await change(made.path, { roles: [] })).json['roles']).toEqual([]);
    expect((await client.get(APPLICATIONS)).status).toBe(403);
    await change(made.path, { roles: ['OWNER'] });
    expect((await client.get(APPLICATIONS)).status).toBe(200);
  });

  it('cannot be taken by an application that does not have it', async () => {
    const own = `${APPLICATIONS}/${plain.clientId}`;
    expect((await change(own, { roles: ['OWNER'] }, plain)).status).toBe(403);
    expect((await register({ roles: ['OWNER'] }, plain)).answer.status).toBe(403);
    expect((await plain.post(`${own}:regenerate-secret`, '')).status).toBe(403);
  });
});

describe('revoked tokens', () => {
  it('are refused at once, and the next one is good', async () => {
    const made = await register();
    const client = await clientOf(made);
    expect((await client.get('/archivist/v2/assets')).status).toBe(200);
    expect((await owner.post(`${made.path}:revoke-tokens`, '')).status).toBe(200);
    expect((await client.get('/archivist/v2/assets')).status).toBe(401);
    const renewed = await clientOf(made);
    expect((await renewed.get('/archivist/v2/assets')).status).toBe(200);
    expect((await client.get('/archivist/v2/assets')).status).toBe(401);
  });

  it('stay refused when their application is deleted, before or after', async () => {
    const made = await register();
    const client = await clientOf(made);
    await owner.post(`${made.path}:revoke-tokens`, '');
    await remove(made.path);
    expect((await client.get('/archivist/v2/assets')).status).toBe(401);
    expect((await owner.post(`${made.path}:revoke-tokens`, '')).status).toBe(200);
    expect((await client.get('/archivist/v2/assets')).status).toBe(401);
  });
});

describe('tokens of an application that never was', () => {
  it('cannot be revoked', async () => {
    const path = `${APPLICATIONS}/01928e10-193e-8231-b9a2-279e0d16bc46:revoke-tokens`;
    expect((await owner.post(path, '')).status).toBe(404);
  });
});

describe('the quota of applications', () => {
  it('is 402 when it is reached, and has room again after a deletion', async () => {
    const made: Registered[] = [];
    for (;;) {
      const next = await register({}, stranger);
      if (next.answer.status !== 200) {
        expect([next.answer.status, next.answer.json['error']]).toEqual([402, 'quota_reached']);
        break;
      }
      made.push(next);
    }
    expect(made).toHaveLength(39);
    await remove(made[0]!.path, stranger);
    expect((await register({}, stranger)).answer.status).toBe(200);
  });
});

describe('the security audit', () => {
  it('has who did what to an application, and what was refused', async () => {
    const made = await register({ display_name: 'Audited', custom_claims: { a: 'b' } });
    await change(made.path, { roles: ['OWNER'] });
    await change(made.path, { roles: [] }, plain);
    await owner.post(`${made.path}:regenerate-secret`, '');
    await owner.post(`${made.path}:revoke-tokens`, '');
    await remove(made.path);
    const { json, bytes } = await owner.get(`${SECURITY}?resource=applications/${made.clientId}`);
    const entries = json['security_events'] as { attributes: Record<string, unknown> }[];
    expect(entries.map(({ attributes }) => [attributes['action'], attributes['outcome']])).toEqual([
      ['application.delete', 'success'],
      ['token.revoke', 'success'],
      ['application.regenerate_secret', 'success'],
      ['application.change', 'failure'],
      ['application.change', 'success'],
      ['application.create', 'success'],
    ]);
    expect(entries[3]!.attributes['actor']).toMatchObject({ subject: plain.clientId });
    expect(entries[5]!.attributes).toMatchObject({
      actor: { subject: owner.clientId, issuer: `${running.url}/appidpv1` },
      details: { display_name: 'Audited', roles: [], custom_claims: ['a=b'] },
    });
    expect(new TextDecoder().decode(bytes)).not.toContain(made.secret);
  });
});

function firstCredential({ json }: Answer): Record<string, unknown> {
  return (json['credentials'] as Record<string, unknown>[])[0]!;
}
