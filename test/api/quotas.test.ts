import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetUnlimited, requireRoom } from '../../src/iam/tenancies/quota.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startService } from '../../src/start-service.js';
import { freePort } from '../support/free-port.js';
import { serverUrl } from '../support/prerequisites.js';
import { sendRequest } from './send-request.js';
import { makeCertificate } from './test-certificates.js';
import { type Answer, type Client, clientWith, startTestService, type TestService } from './test-service.js';
import { uploadFile } from './upload-file.js';

const QUOTAS =
  'applications=2,access_policies=2,tls_ca_certificates=2,compliance_policies=2,locations=2,assets=3,events=8,asset_free_events=2,blobs=3,blob_bytes=20';

let running: TestService;
let owner: Client;
/** Each test in a tenancy of its own: quotas are a tenancy's. */
let tenant: Client;
beforeAll(async () => {
  running = await startTestService({ QUOTAS });
  owner = running.owner;
});
afterAll(() => running?.close());

const newTenant = async () => {
  tenant = await running.client({ otherTenancy: true, roles: ['OWNER'] });
  return tenant;
};
const refusal = (answer: Answer) => [answer.status, answer.json['error'], answer.json['description']];
const reached = (what: string, limit: number) => [
  402,
  'quota_reached',
  `The quota of ${what} is reached: this tenancy may have at most ${limit}. The operator can raise it.`,
];
const caps = async (service: string, client = tenant) =>
  (await client.get(`/archivist/v1/caps?service=${service}`)).json['caps'];
const cap = (type: string, remaining: number, limit: number) => ({
  resource_type: type,
  resource_remaining: String(remaining),
  resource_cap: String(limit),
});
const makeAsset = (headers: Record<string, string> = {}) =>
  tenant.post('/archivist/v2/assets', { attributes: {} }, headers);
const record = (asset: Answer) =>
  tenant.post(`/archivist/v2/${asset.json['identity']}/events`, { operation: 'Record', behaviour: 'RecordEvidence' });
const place = { display_name: 'A place', latitude: 0, longitude: 0 };
const bytes = (length: number) => new Uint8Array(length).fill(65);
const upload = (length: number) => uploadFile(running.url, tenant, bytes(length), 'text/plain');

describe('the quota', () => {
  it('of locations is reached at its limit, and deleting one makes room', async () => {
    await newTenant();
    const first = await tenant.post('/archivist/v2/locations', place);
    expect(await caps('locations')).toEqual([cap('Locations', 1, 2)]);
    expect((await tenant.post('/archivist/v2/locations', place)).status).toBe(200);
    expect(refusal(await tenant.post('/archivist/v2/locations', place))).toEqual(reached('locations', 2));
    expect(await caps('locations')).toEqual([cap('Locations', 0, 2)]);
    await sendRequest(running.url, tenant, 'DELETE', `/archivist/v2/${first.json['identity']}`);
    expect((await tenant.post('/archivist/v2/locations', place)).status).toBe(200);
  });

  it('holds for those who come at the same time', async () => {
    await newTenant();
    const answers = await Promise.all(Array.from({ length: 6 }, () => tenant.post('/archivist/v2/locations', place)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 402, 402, 402, 402]);
  });

  it('of compliance policies is reached at its limit', async () => {
    await newTenant();
    const policy = {
      compliance_type: 'COMPLIANCE_RICHNESS',
      display_name: 'Rich',
      asset_filter: [],
      richness_assertions: [{ or: ['a=b'] }],
    };
    for (const status of [200, 200])
      expect((await tenant.post('/archivist/v1/compliance_policies', policy)).status).toBe(status);
    const third = await tenant.post('/archivist/v1/compliance_policies', policy);
    expect(refusal(third)).toEqual(reached('compliance policies', 2));
    expect(await caps('compliance_policies')).toEqual([cap('CompliancePolicies', 0, 2)]);
  });

  it('of access policies and of TLS CA certificates is reached at its limit', async () => {
    await newTenant();
    const policy = { display_name: 'A policy', filters: [{ or: ['attributes.a=b'] }], access_permissions: [] };
    const authority = async () => {
      const { pem } = await makeCertificate({ name: 'CN=An authority', ca: true });
      return { display_name: 'An authority', tlscacertificate: pem };
    };
    for (const [path, service, type, words, body] of [
      ['/archivist/iam/v1/access_policies', 'access_policies', 'AccessPolicies', 'access policies', async () => policy],
      ['/archivist/v1/tlscacertificates', 'tlscacertificates', 'TlsCaCertificates', 'tls ca certificates', authority],
    ] as const) {
      for (const remaining of [1, 0]) {
        expect((await tenant.post(path, await body())).json['error']).toBeUndefined();
        expect(await caps(service)).toEqual([cap(type, remaining, 2)]);
      }
      expect(refusal(await tenant.post(path, await body()))).toEqual(reached(words, 2));
    }
  });

  it('of applications counts those that there are', async () => {
    await newTenant();
    const { database } = running.service.parts;
    const created = await makeAsset();
    const tenantId = String(created.json['tenant_identity']).slice('tenant/'.length);
    const scope = { read: [tenantId], write: [tenantId] };
    const room = (limit: number) =>
      database.inTransaction(scope, (tx) => requireRoom(tx, { applications: limit }, tenantId, 'applications'));
    expect(await caps('applications')).toEqual([cap('Applications', 1, 2)]);
    await room(2);
    await expect(room(1)).rejects.toMatchObject({ code: 'quota_reached' });
  });

  it('of assets is reached at its limit, and leaves the mates of a refused one alone', async () => {
    await newTenant();
    const answers = await Promise.all(Array.from({ length: 5 }, () => makeAsset()));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 200, 402, 402]);
    expect(refusal(await makeAsset())).toEqual(reached('assets', 3));
    expect(await caps('assets')).toEqual([cap('Assets', 0, 3)]);
    expect((await tenant.get('/archivist/v2/assets')).json['assets']).toHaveLength(3);
    expect((await owner.post('/archivist/v2/assets', { attributes: {} })).status).toBe(200);
  });

  it('counts a repeated request once, and a refused one gives its key back', async () => {
    await newTenant();
    const key = { 'idempotency-key': 'once' };
    const first = await makeAsset(key);
    for (let repeats = 0; repeats < 4; repeats += 1)
      expect((await makeAsset(key)).json['identity']).toBe(first.json['identity']);
    expect(await caps('assets')).toEqual([cap('Assets', 2, 3)]);
    for (let more = 0; more < 2; more += 1) expect((await makeAsset()).status).toBe(200);
    const refused = { 'idempotency-key': 'refused' };
    for (let repeats = 0; repeats < 2; repeats += 1) expect((await makeAsset(refused)).status).toBe(402);
    await running.asOwner(`UPDATE archivist.tenancy_usage SET used = 0 WHERE resource = 'assets'`);
    expect((await makeAsset(refused)).status).toBe(200);
  });

  it('of events counts what is recorded, the creation of the asset with it', async () => {
    await newTenant();
    const asset = await makeAsset();
    expect(await caps('events')).toEqual([cap('Events', 7, 8)]);
    for (let more = 0; more < 7; more += 1) expect((await record(asset)).status).toBe(200);
    expect(refusal(await record(asset))).toEqual(reached('events', 8));
    expect(refusal(await makeAsset())).toEqual(reached('events', 8));
    expect(await caps('assets')).toEqual([cap('Assets', 2, 3)]);
  });

  it('of events is reached in the middle of a bulk request, whose events before it are kept', async () => {
    await newTenant();
    const asset = await makeAsset();
    const events = Array(9).fill({ operation: 'Record', behaviour: 'RecordEvidence' });
    const { json } = await tenant.post(`/archivist/v2/${asset.json['identity']}/events:bulk`, { events });
    const answers = json['events'] as { status: number; description?: string }[];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 402, 402]);
    expect(answers.at(-1)?.description).toBe(reached('events', 8)[2]);
    expect(await caps('events')).toEqual([cap('Events', 0, 8)]);
  });

  it('of events counts a public event once, though it has two forms', async () => {
    await newTenant();
    await tenant.post('/archivist/v2/assets', { attributes: {}, public: true });
    expect(await caps('events')).toEqual([cap('Events', 7, 8)]);
    expect(await caps('assets')).toEqual([cap('Assets', 2, 3)]);
  });

  it('of asset-free events counts none that the security audit made, also of refused attempts', async () => {
    await newTenant();
    const attempt = () => tenant.post('/archivist/iam/v1/applications', { display_name: 'another' });
    for (const status of [200, 402, 402, 402]) expect((await attempt()).status).toBe(status);
    expect(await caps('asset_free_events')).toEqual([cap('AssetFreeEvents', 2, 2)]);
    expect((await tenant.post('/archivist/v1/events', { attributes: { a: 'b' }, trails: [] })).status).toBe(200);
    expect(await caps('asset_free_events')).toEqual([cap('AssetFreeEvents', 1, 2)]);
  });

  it('of asset-free events is reached at its limit', async () => {
    await newTenant();
    const free = () => tenant.post('/archivist/v1/events', { attributes: { a: 'b' }, trails: [] });
    for (const status of [200, 200]) expect((await free()).status).toBe(status);
    expect(refusal(await free())).toEqual(reached('asset free events', 2));
    expect(await caps('asset_free_events')).toEqual([cap('AssetFreeEvents', 0, 2)]);
  });

  it('of blobs limits their number and their bytes', async () => {
    await newTenant();
    expect((await upload(15)).status).toBe(200);
    expect(refusal(await upload(6))).toEqual(reached('blob bytes', 20));
    expect((await upload(5)).status).toBe(200);
    expect(await caps('blobs')).toEqual([cap('Blobs', 1, 3), cap('BlobBytes', 0, 20)]);
    await newTenant();
    for (let more = 0; more < 3; more += 1) expect((await upload(1)).status).toBe(200);
    expect(refusal(await upload(1))).toEqual(reached('blobs', 3));
  });

  it('counts anew what was there, when it had been without a limit at a start', async () => {
    await newTenant();
    const { database } = running.service.parts;
    for (let more = 0; more < 2; more += 1) await makeAsset();
    await running.asOwner(`UPDATE archivist.tenancy_usage SET used = 0 WHERE resource = 'assets'`);
    await forgetUnlimited(database, { assets: 3 });
    expect(await caps('assets')).toEqual([cap('Assets', 3, 3)]);
    await forgetUnlimited(database, { events: 8 });
    expect(await caps('assets')).toEqual([cap('Assets', 1, 3)]);
    expect((await makeAsset()).status).toBe(200);
    expect((await makeAsset()).status).toBe(402);
  });

  it.skipIf(!serverUrl)('counts what a process without the limit added, from when it has stopped', async () => {
    await newTenant();
    const ports = { PORT: String(await freePort()), PLUGIN_PORT: '0' };
    const environment = { ...running.environment, ...ports, PUBLIC_URL: running.url };
    const before = await startService(parseConfig({ ...environment, QUOTAS: 'assets=unlimited' }));
    const { token } = tenant;
    expect((await makeAsset()).status).toBe(200);
    expect((await clientWith(before.url, token).post('/archivist/v2/assets', { attributes: {} })).status).toBe(200);
    await before.close();
    expect(await caps('assets')).toEqual([cap('Assets', 1, 3)]);
    expect((await makeAsset()).status).toBe(200);
    expect((await makeAsset()).status).toBe(402);
  });
});

describe('caps', () => {
  it('are read by every identity of the tenancy, for services that there are', async () => {
    await newTenant();
    const colleague = await running.client({});
    expect(await caps('locations', colleague)).toEqual([cap('Locations', 2, 2)]);
    const unlimited = (type: string) => [{ resource_type: type, resource_remaining: '9223372036854775807' }];
    expect(await caps('members', colleague)).toEqual(unlimited('Members'));
    expect(await caps('invites', colleague)).toEqual(unlimited('Invites'));
    expect(await caps('tenancies/users', colleague)).toEqual(unlimited('Users'));
    expect((await colleague.get('/archivist/v1/caps')).json['description']).toMatch(/^service: /);
    expect((await colleague.get('/archivist/v1/caps?service=spoons')).status).toBe(400);
    expect((await running.anonymous.get('/archivist/v1/caps?service=assets')).status).toBe(401);
  });
});
