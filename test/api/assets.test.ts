import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, startTestService, type TestService, until } from './test-service.js';

let running: TestService;
let owner: Client;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
});
afterAll(() => running?.close());

const ASSETS = '/archivist/v2/assets';
const newAsset = (attributes: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  behaviours: ['RecordEvidence'],
  attributes,
  ...more,
});
const uuidOf = (identity: unknown) => String(identity).split('/').at(-1)!;
const eventsOf = (identity: unknown) => `/archivist/v2/${identity}/events`;

describe('assets', () => {
  it('are created with the fields of the interface', async () => {
    const { status, json } = await owner.post(
      ASSETS,
      newAsset({ arc_display_name: 'One', nested: { a: 'b' }, gone: null }),
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({
      identity: expect.stringMatching(/^assets\/[0-9a-f-]{36}$/),
      behaviours: ['RecordEvidence', 'AssetCreator', 'Builtin'],
      attributes: { arc_display_name: 'One', nested: { a: 'b' } },
      confirmation_status: 'STORED',
      tracked: 'TRACKED',
      proof_mechanism: 'MERKLE_LOG',
      storage_integrity: 'TENANT_STORAGE',
      public: false,
      owner: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      tenant_identity: expect.stringMatching(/^tenant\/[0-9a-f-]{36}$/),
    });
    expect(json['attributes']).not.toHaveProperty('gone');
  });

  it('have the default proof mechanism if the client sends none, null, an empty text or UNSPECIFIED', async () => {
    for (const proof_mechanism of [undefined, null, '', 'PROOF_MECHANISM_UNSPECIFIED']) {
      const { status, json } = await owner.post(ASSETS, newAsset({}, { proof_mechanism }));
      expect([status, json['proof_mechanism']]).toEqual([200, 'MERKLE_LOG']);
    }
  });

  it('are found by attribute right after the create, and counted', async () => {
    await owner.post(ASSETS, newAsset({ droid_id: 'today', arc_display_type: 'vcon_droid' }));
    const found = await owner.get(
      `${ASSETS}?attributes.droid_id=today&attributes.arc_display_type=vcon_droid&page_size=1`,
    );
    expect(found.status).toBe(200);
    expect(found.json['assets']).toHaveLength(1);
    expect(found.headers.get('x-total-count')).toBe('1');
    expect((await owner.get(`${ASSETS}?attributes.droid_id=tomorrow`)).json['assets']).toEqual([]);
  });

  it('are filtered by presence, by literal dotted and by nested names', async () => {
    const [literal, nested] = [
      await owner.post(ASSETS, newAsset({ mark: 'dots', 'a.b': 'x' })),
      await owner.post(ASSETS, newAsset({ mark: 'dots', a: { b: 'x' }, empty: '' })),
    ];
    const list = async (query: string) =>
      ((await owner.get(`${ASSETS}?attributes.mark=dots&${query}`)).json['assets'] as { identity: string }[]).map(
        (each) => each.identity,
      );
    expect(await list('attributes.a.b=x')).toEqual([nested.json['identity'], literal.json['identity']]);
    expect(await list('attributes.a=*')).toEqual([nested.json['identity']]);
    expect(await list('attributes.a!=*')).toEqual([literal.json['identity']]);
    expect(await list('attributes.empty=*')).toEqual([]);
  });

  it('page newest first with a token that carries its query', async () => {
    for (const name of ['1', '2', '3']) await owner.post(ASSETS, newAsset({ paged: 'yes', name }));
    const first = await owner.get(`${ASSETS}?attributes.paged=yes&page_size=2`);
    expect((first.json['assets'] as { attributes: { name: string } }[]).map((each) => each.attributes.name)).toEqual([
      '3',
      '2',
    ]);
    expect(first.headers.get('x-total-count')).toBe('3');
    const token = encodeURIComponent(String(first.json['next_page_token']));
    const second = await owner.get(`${ASSETS}?page_token=${token}&page_size=2`);
    expect((second.json['assets'] as { attributes: { name: string } }[]).map((each) => each.attributes.name)).toEqual([
      '1',
    ]);
    expect(second.json['next_page_token']).toBe('');
    expect((await owner.get(`${ASSETS}?attributes.paged=yes&page_token=${token}`)).status).toBe(200);
    expect((await owner.get(`${ASSETS}?attributes.paged=no&page_token=${token}`)).status).toBe(400);
    expect((await owner.get(`/archivist/v2/assets/-/events?page_token=${token}`)).status).toBe(400);
    expect((await owner.get(`${ASSETS}?page_token=${token.slice(0, -4)}AAAA`)).status).toBe(400);
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    expect((await stranger.get(`${ASSETS}?page_token=${token}`)).status).toBe(400);
  });

  it('have a NewAsset event that reaches CONFIRMED, and their status follows it', async () => {
    const { json } = await owner.post(ASSETS, newAsset({ arc_display_name: 'Watched' }));
    const path = `/archivist/v2/${json['identity']}`;
    const confirmed = await until(
      () => owner.get(path),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      30_000,
    );
    expect(confirmed.json['confirmation_status']).toBe('CONFIRMED');
    const events = (await owner.get(`${path}/events`)).json['events'] as Record<string, unknown>[];
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      operation: 'NewAsset',
      behaviour: 'AssetCreator',
      asset_attributes: { arc_display_name: 'Watched' },
      event_attributes: {},
      confirmation_status: 'CONFIRMED',
    });
  });

  it('leave lists when tracking stops and come back when it starts; at_time shows them as they were', async () => {
    const { json } = await owner.post(ASSETS, newAsset({ tracking: 'test', colour: 'red' }));
    const listed = async (query = '') => (await owner.get(`${ASSETS}?attributes.tracking=test${query}`)).json['assets'];
    const before = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const stop = { operation: 'StopTracking', behaviour: 'Builtin' };
    expect((await owner.post(eventsOf(json['identity']), stop)).status).toBe(200);
    expect(await listed()).toEqual([]);
    expect(await listed('&tracked=NOT_TRACKED')).toHaveLength(1);
    await owner.post(eventsOf(json['identity']), { operation: 'StartTracking', behaviour: 'Builtin' });
    expect(await listed()).toHaveLength(1);
    const repaint = { operation: 'Record', behaviour: 'RecordEvidence', asset_attributes: { colour: 'blue' } };
    await owner.post(eventsOf(json['identity']), repaint);
    const path = `/archivist/v2/${json['identity']}`;
    expect((await owner.get(path)).json['attributes']).toEqual({ tracking: 'test', colour: 'blue' });
    expect((await owner.get(`${path}?at_time=${before}`)).json['attributes']).toEqual({
      tracking: 'test',
      colour: 'red',
    });
    expect((await owner.get(`${path}?at_time=2020-01-01T00:00:00Z`)).status).toBe(404);
  });

  it('of another tenancy are not there, and of another creator neither for one who is no Owner', async () => {
    const { json } = await owner.post(ASSETS, newAsset({ secret: 'ours' }));
    const path = `/archivist/v2/${json['identity']}`;
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const colleague = await running.client({});
    for (const client of [stranger, colleague]) {
      expect((await client.get(path)).status).toBe(404);
      expect((await client.get(`${path}/events`)).status).toBe(404);
      expect((await client.post(`${path}/events`, { operation: 'Record', behaviour: 'RecordEvidence' })).status).toBe(
        404,
      );
      expect((await client.get(`${ASSETS}?attributes.secret=ours`)).json['assets']).toEqual([]);
    }
    const own = await colleague.post(ASSETS, newAsset({ secret: 'hers' }));
    expect((await colleague.get(`/archivist/v2/${own.json['identity']}`)).status).toBe(200);
    expect((await colleague.get('/archivist/v2/assets/-/events')).json['events']).toHaveLength(1);
    expect((await owner.get(`/archivist/v2/${own.json['identity']}`)).status).toBe(200);
  });
});

describe('public assets', () => {
  it('are read without a token, with blank principals, under the URL that the owner is told', async () => {
    const { json } = await owner.post(
      ASSETS,
      newAsset({ arc_display_name: 'Open', subject: 'vcon://open' }, { public: true }),
    );
    const told = await owner.get(`/archivist/v2/${json['identity']}:publicurl`);
    expect(told.json['publicurl']).toBe(`${running.url}/archivist/v2/publicassets/${uuidOf(json['identity'])}`);
    const path = new URL(String(told.json['publicurl'])).pathname;
    const shown = await running.anonymous.get(path);
    expect(shown.json).toMatchObject({ identity: `publicassets/${uuidOf(json['identity'])}`, public: true });
    const events = (await running.anonymous.get(`${path}/events`)).json['events'] as Record<string, unknown>[];
    const blank = { issuer: '', subject: '', display_name: '', email: '' };
    expect(events[0]).toMatchObject({
      principal_accepted: blank,
      principal_declared: blank,
      tenant_identity: json['tenant_identity'],
    });
    expect((await running.anonymous.get(`/archivist/v2/${events[0]!['identity']}`)).status).toBe(200);
    expect((await running.anonymous.get(`/archivist/v2/${json['identity']}`)).status).toBe(401);
  });

  it('are the only ones with a public URL, and a private one is not under it', async () => {
    const { json } = await owner.post(ASSETS, newAsset({}));
    expect((await owner.get(`/archivist/v2/${json['identity']}:publicurl`)).status).toBe(404);
    expect((await running.anonymous.get(`/archivist/v2/publicassets/${uuidOf(json['identity'])}`)).status).toBe(404);
  });
});
