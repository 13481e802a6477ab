import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService } from './test-service.js';

let running: TestService;
let owner: Client;
let colleague: Client;
let stranger: Client;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  colleague = await running.client({});
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
});
afterAll(() => running?.close());

const SELF = '/archivist/v1/tenancies/self';
const tenantOf = (client: Client) => String(decodeJwt(client.token)['jit_tenant_id']).slice('tenant/'.length);
const rename = (client: Client, body: unknown) => sendRequest(running.url, client, 'PATCH', SELF, body);

describe('a tenancy', () => {
  it('tells everybody who knows its id its identity and domain, and nothing else', async () => {
    const created = await owner.post('/archivist/v2/assets', { attributes: {} });
    const uuid = String(created.json['tenant_identity']).slice('tenant/'.length);
    for (const client of [running.anonymous, colleague, stranger]) {
      const { status, json } = await client.get(`/archivist/v1/tenancies/${uuid}:publicinfo`);
      expect([status, json]).toEqual([200, { identity: `tenancies/${uuid}`, verified_domain: '' }]);
    }
  });

  it('that is not there is a 404, also if its id is no UUID', async () => {
    const path = (uuid: string) => `/archivist/v1/tenancies/${uuid}:publicinfo`;
    expect((await owner.get(path('00000000-0000-4000-8000-000000000000'))).status).toBe(404);
    expect((await owner.get(path('self'))).status).toBe(404);
  });

  it('is shown to its Owners alone', async () => {
    const { status, json } = await owner.get(SELF);
    expect(status).toBe(200);
    expect(json).toEqual({
      identity: `tenancies/${tenantOf(owner)}`,
      verified_domain: '',
      display_name: 'First tenancy',
      enterprise_sso_enabled: false,
      enterprise_sso_config: expect.objectContaining({ client_secret: '' }),
    });
    expect((await stranger.get(SELF)).json['identity']).toBe(`tenancies/${tenantOf(stranger)}`);
    expect((await colleague.get(SELF)).status).toBe(403);
    expect((await running.anonymous.get(SELF)).status).toBe(401);
  });

  it('is renamed by its Owners alone, and no other with it', async () => {
    const renamed = await rename(owner, { display_name: 'Käse & Co.' });
    expect([renamed.status, renamed.json['display_name']]).toEqual([200, 'Käse & Co.']);
    expect((await owner.get(SELF)).json).toEqual(renamed.json);
    expect((await stranger.get(SELF)).json['display_name']).toBe('Another tenancy');
    const domain = await rename(owner, { verified_domain: 'bank.example' });
    expect([domain.status, domain.json['description']]).toEqual([400, expect.stringMatching(/^verified_domain: /)]);
    expect((await owner.get(SELF)).json).toEqual(renamed.json);
    for (const body of [{ display_name: 'x' }, {}]) expect((await rename(colleague, body)).status).toBe(403);
  });

  it('is changed by the record that was read, sent back with a change', async () => {
    const { json: read } = await owner.get(SELF);
    const changed = await rename(owner, { ...read, display_name: 'Sent back' });
    expect([changed.status, changed.json]).toEqual([200, { ...read, display_name: 'Sent back' }]);
    const elsewhere = await rename(owner, { ...read, identity: `tenancies/${tenantOf(stranger)}` });
    expect([elsewhere.status, elsewhere.json['description']]).toEqual([400, expect.stringMatching(/^identity: /)]);
    const policy = { ...(read['enterprise_sso_config'] as object), policy_id: 'foo' };
    const { status, json } = await rename(owner, { ...read, enterprise_sso_config: policy });
    expect([status, json['description']]).toEqual([400, expect.stringMatching(/^enterprise_sso_config\.policy_id: /)]);
    expect((await owner.get(SELF)).json['display_name']).toBe('Sent back');
  });

  it('is refused a name that cannot be, and single sign-on', async () => {
    for (const name of ['', 'x'.repeat(129), 'a\u0000', 5])
      expect((await rename(owner, { display_name: name })).json['description']).toMatch(/^display_name: /);
    const { status, json } = await rename(owner, { enterprise_sso_config: { issuer: 'https://idp.example' } });
    expect([status, json['description']]).toEqual([400, expect.stringMatching(/^enterprise_sso_config\.client_id: /)]);
  });

  it.each<[string, object, RegExp]>([
    ['no issuer', { enterprise_sso_enabled: true }, /^enterprise_sso_config\.issuer: is missing$/],
    [
      'a client and no issuer',
      { enterprise_sso_config: { client_id: 'console' } },
      /^enterprise_sso_config\.issuer: is missing$/,
    ],
    [
      'claims and no issuer',
      { enterprise_sso_config: { claims: { email: 'upn' } } },
      /^enterprise_sso_config\.issuer: is missing$/,
    ],
    ...['10.0.0.5', '[::1]', 'localhost', '169.254.169.254'].map((host): [string, object, RegExp] => [
      `an issuer at ${host}`,
      { enterprise_sso_config: { issuer: `https://${host}/realm`, client_id: 'console' } },
      /^enterprise_sso_config\.issuer: is in a private network$/,
    ]),
  ])('cannot sign its people in with %s', async (_what, body, says) => {
    const { status, json } = await rename(owner, body);
    expect([status, json['description']]).toEqual([400, expect.stringMatching(says)]);
    expect((await owner.get(SELF)).json).toMatchObject({
      enterprise_sso_enabled: false,
      enterprise_sso_config: { issuer: '', client_id: '' },
    });
  });
});

describe('memberships', () => {
  it('of an application are none: it is nobody\u2019s member', async () => {
    const { status, json, headers } = await colleague.get('/archivist/iam/v1/memberships?page_size=5');
    expect([status, json]).toEqual([200, { memberships: [], next_page_token: '' }]);
    expect(headers.get('x-total-count')).toBe('0');
    expect((await colleague.get('/archivist/iam/v1/memberships?page_token=abc')).status).toBe(400);
    expect((await running.anonymous.get('/archivist/iam/v1/memberships')).status).toBe(401);
  });
});
