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

const POLICIES = '/archivist/v1/compliance_policies';
const since = (kind: string, more: Record<string, unknown> = {}) => ({
  compliance_type: 'COMPLIANCE_SINCE',
  display_name: `Since ${kind}`,
  asset_filter: [{ or: [`attributes.kind=${kind}`] }],
  event_display_type: 'Maintenance',
  time_period_seconds: 60,
  ...more,
});
const madePolicy = async (body: Record<string, unknown>) => {
  const { status, json } = await owner.post(POLICIES, body);
  expect([status, json['description']]).toEqual([200, body['description'] ?? '']);
  return String(json['identity']);
};
const madeAsset = async (attributes: Record<string, unknown>, client = owner) =>
  String((await client.post('/archivist/v2/assets', { attributes })).json['identity']);
const record = (asset: string, body: Record<string, unknown>, client = owner) =>
  client.post(`/archivist/v2/${asset}/events`, { operation: 'Record', behaviour: 'RecordEvidence', ...body });
const event = (displayType: string, correlation?: string) => ({
  event_attributes: {
    arc_display_type: displayType,
    ...(correlation === undefined ? {} : { arc_correlation_value: correlation }),
  },
});
const check = (asset: string, query = '', client = owner) =>
  client.get(`/archivist/v1/compliance/${asset}${query === '' ? '' : `?${query}`}`);
const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

describe('compliance policies', () => {
  it('are created with every field of the interface, and read back as they were', async () => {
    const { status, json } = await owner.post(POLICIES, since('created', { description: 'daily' }));
    expect(status).toBe(200);
    expect(json).toEqual({
      identity: expect.stringMatching(/^compliance_policies\/[0-9a-f-]{36}$/),
      compliance_type: 'COMPLIANCE_SINCE',
      display_name: 'Since created',
      description: 'daily',
      asset_filter: [{ or: ['attributes.kind=created'] }],
      event_display_type: 'Maintenance',
      closing_event_display_type: '',
      time_period_seconds: '60',
      dynamic_window: '0',
      dynamic_variability: 0,
      richness_assertions: [],
    });
    for (const client of [owner, colleague])
      expect((await client.get(`/archivist/v1/${json['identity']}`)).json).toEqual(json);
  });

  it('are refused with the field that is wrong', async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [since('x', { time_period_seconds: undefined }), 'time_period_seconds'],
      [since('x', { compliance_type: 'COMPLIANCE_TYPE_UNDEFINED' }), 'compliance_type'],
      [since('x', { asset_filter: [{ or: ['kind=x'] }] }), 'asset_filter.0.or.0'],
      [since('x', { display_name: '' }), 'display_name'],
      [
        since('x', {
          compliance_type: 'COMPLIANCE_PERIOD_OUTSTANDING',
          event_display_type: 'Fault',
          closing_event_display_type: 'Fault',
        }),
        'closing_event_display_type',
      ],
      [
        since('x', {
          compliance_type: 'COMPLIANCE_RICHNESS',
          richness_assertions: [{ or: Array(128).fill('a=b') }, { or: ['a=b'] }],
        }),
        'richness_assertions.1.or',
      ],
    ];
    for (const [body, field] of wrong) {
      const { status, json } = await owner.post(POLICIES, body);
      expect([status, json['error']]).toEqual([400, 'bad_request']);
      expect(json['description']).toMatch(new RegExp(`^${field.replaceAll('.', '\\.')}: `));
    }
  });

  it('page newest first, are filtered and counted', async () => {
    const names = ['Paged a', 'Paged b', 'Paged c'];
    for (const name of names) await madePolicy(since('paged', { display_name: name, description: 'paged' }));
    const first = await colleague.get(`${POLICIES}?description=paged&page_size=2`);
    const shown = (answer: { json: Record<string, unknown> }) =>
      (answer.json['compliance_policies'] as { display_name: string }[]).map((each) => each.display_name);
    expect(shown(first)).toEqual(['Paged c', 'Paged b']);
    expect(first.headers.get('x-total-count')).toBe('3');
    const token = encodeURIComponent(String(first.json['next_page_token']));
    const second = await colleague.get(`${POLICIES}?page_token=${token}`);
    expect(shown(second)).toEqual(['Paged a']);
    expect(second.json['next_page_token']).toBe('');
    expect(shown(await owner.get(`${POLICIES}?display_name=Paged+b`))).toEqual(['Paged b']);
    const rich = `${POLICIES}?compliance_type=COMPLIANCE_RICHNESS&description=paged`;
    expect(shown(await owner.get(rich))).toEqual([]);
    expect((await owner.get(`${POLICIES}?compliance_type=RICH`)).status).toBe(400);
    expect((await owner.get(`${POLICIES}?compliance_type=`)).status).toBe(200);
    expect((await owner.get(`${POLICIES}?colour=red`)).json['description']).toMatch(/^colour: /);
  });

  it('are written by Owners alone, and of another tenancy are not there', async () => {
    const identity = await madePolicy(since('guarded'));
    const path = `/archivist/v1/${identity}`;
    expect((await colleague.post(POLICIES, since('x'))).status).toBe(403);
    expect((await sendRequest(running.url, colleague, 'DELETE', path)).status).toBe(403);
    expect((await stranger.get(path)).status).toBe(404);
    expect((await sendRequest(running.url, stranger, 'DELETE', path)).status).toBe(404);
    expect((await stranger.get(POLICIES)).json['compliance_policies']).toEqual([]);
    expect((await owner.get(path)).status).toBe(200);
  });

  it('are answered by their deletion, once, and then no asset is checked against them', async () => {
    const asset = await madeAsset({ kind: 'deleted' });
    const identity = await madePolicy(since('deleted'));
    expect((await check(asset)).json['compliant']).toBe(false);
    const path = `/archivist/v1/${identity}`;
    const deleted = await sendRequest(running.url, owner, 'DELETE', path);
    expect([deleted.status, deleted.json]).toEqual([200, expect.objectContaining({ identity })]);
    expect((await sendRequest(running.url, owner, 'DELETE', path)).status).toBe(404);
    expect((await owner.get(path)).status).toBe(404);
    expect((await check(asset)).json).toMatchObject({ compliant: true, compliance: [] });
  });
});

describe('the compliance of an asset', () => {
  it('is told for each policy whose filter it passes, and for no other', async () => {
    const policy = await madePolicy(
      since('filtered', { asset_filter: [{ or: ['attributes.kind:filtered'] }, { or: ['attributes.site!=closed'] }] }),
    );
    await madePolicy(since('another'));
    const [open, closed] = [
      await madeAsset({ kind: 'filtered' }),
      await madeAsset({ kind: 'filtered', site: 'closed' }),
    ];
    await record(open, event('Maintenance'));
    const { status, json } = await check(open);
    expect(status).toBe(200);
    expect(json).toEqual({
      compliant: true,
      compliant_at: expect.stringMatching(/Z$/),
      compliance: [
        { compliance_policy_identity: policy, compliant: true, reason: expect.stringContaining('Maintenance') },
      ],
      next_page_token: '',
    });
    expect((await check(closed)).json).toMatchObject({ compliant: true, compliance: [] });
  });

  it('has its clock at compliant_at', async () => {
    await madePolicy(since('clock'));
    const asset = await madeAsset({ kind: 'clock' });
    await pause();
    const before = new Date().toISOString();
    await pause();
    const { json } = await record(asset, event('Maintenance'));
    const secondsLater = (seconds: number) =>
      new Date(Date.parse(String(json['timestamp_accepted'])) + seconds * 1000).toISOString();
    expect((await check(asset)).json['compliant']).toBe(true);
    expect((await check(asset, `compliant_at=${before}`)).json['compliant']).toBe(false);
    expect((await check(asset, `compliant_at=${secondsLater(59)}`)).json['compliant']).toBe(true);
    const late = secondsLater(61);
    expect((await check(asset, `compliant_at=${late}`)).json).toMatchObject({ compliant: false, compliant_at: late });
  });

  it('reads attributes as they were then, for the filter and for assertions', async () => {
    const rich = { compliance_type: 'COMPLIANCE_RICHNESS', display_name: 'Rich' };
    const asset_filter = [{ or: ['attributes.kind=rich'] }];
    await madePolicy({ ...rich, asset_filter, richness_assertions: [{ or: ['level>=7', 'exempt=yes'] }] });
    const asset = await madeAsset({ kind: 'rich', level: '3' });
    await pause();
    const poor = new Date().toISOString();
    await pause();
    await record(asset, { asset_attributes: { level: '12' } });
    await pause();
    const improved = new Date().toISOString();
    await pause();
    await record(asset, { asset_attributes: { kind: 'retired', level: '0' } });
    const verdict = async (query: string) => {
      const { compliant, compliance } = (await check(asset, query)).json as {
        compliant: boolean;
        compliance: object[];
      };
      return [compliant, compliance.length];
    };
    expect(await verdict(`compliant_at=${poor}`)).toEqual([false, 1]);
    expect(await verdict(`compliant_at=${improved}`)).toEqual([true, 1]);
    expect(await verdict('')).toEqual([true, 0]);
  });

  it('fails while an event waits for its closing event', async () => {
    const pair = { event_display_type: 'Opened', closing_event_display_type: 'Closed' };
    const asset_filter = [{ or: ['attributes.kind=pairs'] }];
    const outstanding = { compliance_type: 'COMPLIANCE_CURRENT_OUTSTANDING', display_name: 'None open' };
    await madePolicy({ ...outstanding, ...pair, asset_filter });
    const period = { compliance_type: 'COMPLIANCE_PERIOD_OUTSTANDING', display_name: 'Quickly' };
    await madePolicy({ ...period, ...pair, asset_filter, time_period_seconds: '30' });
    const dynamic = { compliance_type: 'COMPLIANCE_DYNAMIC_TOLERANCE', display_name: 'As ever' };
    await madePolicy({ ...dynamic, ...pair, asset_filter, dynamic_window: '3600', dynamic_variability: 2 });
    const asset = await madeAsset({ kind: 'pairs' });
    const verdicts = async (query = '') =>
      ((await check(asset, query)).json['compliance'] as { compliant: boolean }[]).map((each) => each.compliant);
    await record(asset, event('Opened', 'a'));
    await record(asset, event('Closed', 'b'));
    // Newest policy first: tolerance, period, outstanding.
    expect(await verdicts()).toEqual([true, true, false]);
    expect(await verdicts(`compliant_at=${secondsFromNow(60)}`)).toEqual([true, false, false]);
    await record(asset, event('Closed', 'a'));
    expect(await verdicts()).toEqual([true, true, true]);
    expect((await check(asset)).json['compliant']).toBe(true);
  });

  it('finds events of a display type that is too long for an index', async () => {
    const long = 'ä'.repeat(1000);
    await madePolicy(since('long', { event_display_type: long }));
    const asset = await madeAsset({ kind: 'long' });
    await record(asset, event(long));
    expect((await check(asset)).json['compliant']).toBe(true);
  });

  it('is 404 before the asset was created and for who may not read it, 400 for what is no time', async () => {
    const asset = await madeAsset({ kind: 'hidden' });
    for (const client of [stranger, colleague]) expect((await check(asset, '', client)).status).toBe(404);
    expect((await check(asset, 'compliant_at=2020-01-01T00:00:00Z')).status).toBe(404);
    const twice = await check(asset, 'compliant_at=2026-11-20T10:00:00Z&compliant_at=2026-11-21T10:00:00Z');
    expect([twice.status, twice.json['description']]).toEqual([400, 'compliant_at: must be given once']);
    expect((await check(asset, 'compliant_at=yesterday')).json['description']).toMatch(/^compliant_at: /);
    expect((await check(asset, 'colour=red')).json['description']).toMatch(/^colour: /);
    expect((await check('assets/none')).status).toBe(404);
  });

  it('is told with its reasons to an application that created the asset', async () => {
    await madePolicy({
      ...since('own'),
      compliance_type: 'COMPLIANCE_CURRENT_OUTSTANDING',
      closing_event_display_type: 'Closed',
    });
    const asset = await madeAsset({ kind: 'own' }, colleague);
    await record(asset, event('Maintenance', 'mine'), colleague);
    const [statement] = (await check(asset, '', colleague)).json['compliance'] as { reason: string }[];
    expect(statement?.reason).toContain('"mine"');
  });

  it('pages with the time of its first page, the verdict always over all', async () => {
    const kept = await madePolicy(since('pages', { event_display_type: 'Never' }));
    for (const time of ['60', '61']) await madePolicy(since('pages', { time_period_seconds: time }));
    const asset = await madeAsset({ kind: 'pages' });
    await record(asset, event('Maintenance'));
    const first = await check(asset, 'page_size=2');
    expect(first.headers.get('x-total-count')).toBe('3');
    expect(first.json).toMatchObject({ compliant: false, compliance: [{ compliant: true }, { compliant: true }] });
    const token = encodeURIComponent(String(first.json['next_page_token']));
    const second = await check(asset, `page_size=2&page_token=${token}`);
    expect(second.json).toMatchObject({
      compliant: false,
      compliant_at: first.json['compliant_at'],
      compliance: [{ compliance_policy_identity: kept, compliant: false }],
      next_page_token: '',
    });
    expect((await owner.get(`${POLICIES}?page_token=${token}`)).status).toBe(400);
  });

  it('is partial content beyond the result limit, and all of it is checked', async () => {
    const asset = await madeAsset({ kind: 'many' });
    const identity = await madePolicy(since('many', { event_display_type: 'Many' }));
    await running.asOwner(
      `INSERT INTO archivist.compliance_policy (tenant_id, policy_id, policy, created_at)
       SELECT tenant_id, gen_random_uuid(), policy, created_at FROM archivist.compliance_policy, generate_series(1, 1000)
        WHERE policy_id = '${identity.split('/')[1]}'`,
    );
    const first = await check(asset, 'page_size=1000');
    expect([first.status, first.headers.get('content-range')]).toEqual([206, 'items 0-1000/1001']);
    const token = encodeURIComponent(String(first.json['next_page_token']));
    const second = await check(asset, `page_token=${token}`);
    expect((second.json['compliance'] as unknown[]).length).toBe(1);
    await running.asOwner(`DELETE FROM archivist.compliance_policy WHERE policy ->> 'event_display_type' = 'Many'`);
  });
});
