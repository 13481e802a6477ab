import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { forClient, made, openScene, POLICIES, type Scene } from './policy-scene.js';
import type { Client } from './test-service.js';

const policy = {
  display_name: 'Lights of the north',
  filters: [
    { or: ['attributes.arc_display_type=Traffic light', 'attributes.kind:light'] },
    { or: ['attributes.site=*'] },
  ],
  access_permissions: [
    {
      subjects: ['subjects/6A951B62-0a26-4c22-a886-1082297b063b'],
      behaviours: ['RecordEvidence', 'Attachments'],
      include_attributes: ['arc_display_name'],
      user_attributes: [{ or: ['group:maintainers', 'email=A@example.com', 'jwt_role=a=b', 'subject=s'] }],
      asset_attributes_read: ['*'],
      asset_attributes_write: ['site'],
      event_arc_display_type_read: ['Inspection'],
      event_arc_display_type_write: ['Inspection'],
    },
  ],
};

let scene: Scene;
let owner: Client;
beforeAll(async () => {
  scene = await openScene();
  ({ owner } = scene);
});
afterAll(() => scene?.close());

describe('an access policy', () => {
  it('is kept field by field, changed in part, and deleted with an empty object', async () => {
    const created = await owner.post(POLICIES, policy);
    const { identity, tenant, ...content } = created.json;
    expect(content).toEqual({ ...policy, description: '' });
    expect(tenant).toMatch(/^tenant\//);
    const path = `/archivist/iam/v1/${identity}`;
    expect((await owner.get(path)).json).toEqual(created.json);
    const named = { display_name: 'n'.repeat(1024), description: 'all of them' };
    const change = { ...named, identity: 'access_policies/x', tenant: 'tenant/y' };
    const changed = await scene.change(owner, path, change);
    expect(changed.json).toEqual({ ...created.json, ...named });
    expect((await owner.get(path)).json).toEqual(changed.json);
    const removed = await scene.remove(owner, path);
    expect([removed.status, removed.json]).toEqual([200, {}]);
    expect((await owner.get(path)).status).toBe(404);
    expect((await scene.remove(owner, path)).status).toBe(404);
  });

  it('gets no new version, event or entry in the security audit by a change that leaves it as it is', async () => {
    const asset = await scene.asset({ arc_display_type: 'Unchanged' });
    const content = { ...policy, filters: [{ or: ['attributes.arc_display_type=Unchanged'] }] };
    const created = await owner.post(POLICIES, content);
    const path = `/archivist/iam/v1/${created.json['identity']}`;
    const entries = async () => {
      const { json } = await owner.get('/archivist/v1/security_events?page_size=1');
      return (json['security_events'] as { identity: string }[]).map(({ identity }) => identity);
    };
    const before = await entries();
    for (const change of [{}, content, { display_name: policy.display_name }, { filters: content.filters }]) {
      const answer = await scene.change(owner, path, change);
      expect([answer.status, answer.json]).toEqual([200, created.json]);
    }
    expect(await entries()).toEqual(before);
    const changed = await scene.change(owner, path, { description: 'changed' });
    expect(changed.status).toBe(200);
    const audits = async () =>
      (await owner.get(`/archivist/v2/${asset}/events?event_attributes.arc_display_type=arc_access_policy`)).json[
        'events'
      ] as { event_attributes: Record<string, unknown> }[];
    await vi.waitFor(async () => expect(await audits()).toHaveLength(2), { timeout: 20_000, interval: 100 });
    expect((await audits()).map((each) => each.event_attributes['arc_access_policy_version'])).toEqual(['2', '1']);
    await scene.remove(owner, path);
  });

  it('keeps its filters where a mask names them and the body does not, and tells of a name that is misspelt', async () => {
    const created = await owner.post(POLICIES, policy);
    const path = `/archivist/iam/v1/${created.json['identity']}`;
    const misspelt = { display_name: 'Other', filter: policy.filters };
    const refused = await scene.change(owner, `${path}?mask=display_name,filters`, misspelt);
    expect([refused.status, refused.json['description']]).toEqual([400, expect.stringContaining('"filters"')]);
    expect((await owner.get(path)).json).toEqual(created.json);
    const named = await scene.change(owner, `${path}?mask=display_name`, misspelt);
    expect([named.status, named.headers.get('x-ignored-members')]).toEqual([200, 'filter']);
    expect(named.json).toEqual({ ...created.json, display_name: 'Other' });
    await scene.remove(owner, path);
  });

  it('is listed and counted by name', async () => {
    for (const _ of [1, 2, 3]) await owner.post(POLICIES, { ...policy, display_name: 'Counted' });
    const count = await owner.get(`${POLICIES}?display_name=Counted&page_size=1`, { 'x-request-total-count': 'true' });
    expect(count.headers.get('x-total-count')).toBe('3');
    const seen: unknown[] = [...(count.json['access_policies'] as unknown[])];
    for (let token = count.json['next_page_token']; token !== ''; ) {
      const page = await owner.get(`${POLICIES}?page_token=${token}&page_size=1`);
      seen.push(...(page.json['access_policies'] as unknown[]));
      token = page.json['next_page_token'];
    }
    expect(seen).toHaveLength(3);
    expect(seen.every((each) => (each as { display_name: string }).display_name === 'Counted')).toBe(true);
    expect((await owner.get(`${POLICIES}?order_by=DISPLAY_NAME&display_name=Counted`)).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no name', { display_name: '' }, 'display_name'],
    ['no filters', { filters: null }, 'filters'],
    ['a filter without its prefix', { filters: [{ or: ['colour=red'] }] }, 'filters.0.or.0'],
    ['a filter without a comparison', { filters: [{ or: ['attributes.colour'] }] }, 'filters.0.or.0'],
    ['an empty alternative', { filters: [{ or: [] }] }, 'filters.0.or'],
    ['no permissions', { access_permissions: 'x' }, 'access_permissions'],
    ['a subject that is none', { access_permissions: [{ subjects: ['x'] }] }, 'access_permissions.0.subjects.0'],
    [
      'Self as another organisation',
      { access_permissions: [{ subjects: ['subjects/00000000-0000-0000-0000-000000000000'] }] },
      'access_permissions.0.subjects.0',
    ],
    [
      'an unknown user attribute',
      { access_permissions: [{ user_attributes: [{ or: ['name=x'] }] }] },
      'access_permissions.0.user_attributes.0.or.0',
    ],
    [
      'everybody but one',
      { access_permissions: [{ user_attributes: [{ or: ['email!=a@example.com'] }] }] },
      'access_permissions.0.user_attributes.0.or.0',
    ],
    [
      'a person without a word before the name',
      { access_permissions: [{ user_attributes: [{ or: ['email=a@example.com', 'b@example.com'] }] }] },
      'access_permissions.0.user_attributes.0.or.1: must be email=, subject= or jwt_<claim>= and a value, or group:<name>',
    ],
    [
      'a name longer than 512 characters',
      { access_permissions: [{ user_attributes: [{ or: [`group:${'g'.repeat(507)}`] }] }] },
      'access_permissions.0.user_attributes.0.or.0: must have at most 512 characters',
    ],
    [
      'nobody',
      { access_permissions: [{ user_attributes: [{ or: ['email='] }] }] },
      'access_permissions.0.user_attributes.0.or.0',
    ],
  ])('with %s is refused, naming the field', async (_name, wrong, field) => {
    const answer = await owner.post(POLICIES, { ...policy, ...wrong });
    expect(answer.status).toBe(400);
    expect(String(answer.json['description']).replaceAll(/\[(\d+)\]/g, '.$1')).toContain(field);
  });

  it('tells which assets it matches, and they tell it, public ones never', async () => {
    const asset = await scene.asset({ arc_display_type: 'Barrier', site: 'north' });
    await scene.asset({ arc_display_type: 'Gate' });
    const attributes = { arc_display_type: 'Barrier' };
    const open = made(await owner.post('/archivist/v2/assets', { attributes, public: true }));
    const id = await scene.policy('Barrier', {});
    const { json } = await owner.get(`/archivist/iam/v1/${id}/assets`);
    const { display_name, description, tenant } = (await owner.get(`/archivist/iam/v1/${id}`)).json;
    expect(json['assets']).toMatchObject([
      { identity: asset, access_policy: { identity: id, display_name, description, tenant } },
    ]);
    const ofAsset = await owner.get(`/archivist/iam/v1/${asset}/access_policies`);
    expect((ofAsset.json['access_policies'] as { identity: string }[]).map(({ identity }) => identity)).toEqual([id]);
    expect((await owner.get(`/archivist/iam/v1/${open}/access_policies`)).json['access_policies']).toEqual([]);
  });

  it('is found by the attributes that an asset had at a time, and its assets also without an index', async () => {
    const asset = await scene.asset({ arc_display_type: 'Turnstile', site: 'west' });
    const id = await scene.policy('Turnstile', {});
    const others = made(
      await owner.post(POLICIES, {
        display_name: 'All but east',
        filters: [{ or: ['attributes.site=west', 'attributes.site!=east'] }],
        access_permissions: [],
      }),
    );
    const event = await scene.event(asset, { asset_attributes: { arc_display_type: 'Removed' } });
    const { timestamp_accepted } = (await owner.get(`/archivist/v2/${event}`)).json;
    const before = new Date(Date.parse(String(timestamp_accepted)) - 1).toISOString();
    const found = async (query: string) => {
      const { json } = await owner.get(`/archivist/iam/v1/${asset}/access_policies${query}`);
      return (json['access_policies'] as { identity: string }[]).map(({ identity }) => identity);
    };
    expect(await found('')).toEqual([others]);
    expect(await found(`?at_time=${before}`)).toEqual([others, id]);
    const { json } = await owner.get(`/archivist/iam/v1/${others}/assets`);
    expect((json['assets'] as { identity: string }[]).map(({ identity }) => identity)).toContain(asset);
    for (const each of [id, others]) await scene.remove(owner, `/archivist/iam/v1/${each}`);
  });

  it('counts at once when it is made, changed and taken back', async () => {
    const reader = await scene.client({});
    const asset = await scene.asset({ arc_display_type: 'Lamp', colour: 'red' });
    const path = `/archivist/v2/${asset}`;
    expect((await reader.get(path)).status).toBe(404);
    const id = await scene.policy('Lamp', forClient(reader, { asset_attributes_read: ['colour'] }));
    expect((await reader.get(path)).json['attributes']).toEqual({ colour: 'red' });
    await scene.change(owner, `/archivist/iam/v1/${id}`, {
      access_permissions: [forClient(reader, { asset_attributes_read: ['arc_display_type'] })],
    });
    expect((await reader.get(path)).json['attributes']).toEqual({ arc_display_type: 'Lamp' });
    await scene.remove(owner, `/archivist/iam/v1/${id}`);
    expect((await reader.get(path)).status).toBe(404);
  });

  it('lets an identity record only with the behaviours that it names', async () => {
    const recorder = await scene.client({});
    const asset = await scene.asset({ arc_display_type: 'Crane' });
    const kinds = { event_arc_display_type_write: ['*'], asset_attributes_read: ['*'] };
    await scene.policy('Crane', forClient(recorder, { ...kinds, behaviours: ['RecordEvidence'] }));
    const path = `/archivist/v2/${asset}/events`;
    expect((await recorder.post(path, { operation: 'Record', behaviour: 'RecordEvidence' })).status).toBe(200);
    const { status, json } = await recorder.post(path, { operation: 'StopTracking', behaviour: 'Builtin' });
    expect([status, json]).toEqual([
      403,
      { error: 'forbidden', description: 'behaviour: no access policy lets you record with this behaviour here' },
    ]);
  });

  it('names applications by claims, too, and by all of its lists', async () => {
    const plain = await scene.client({});
    const asset = await scene.asset({ arc_display_type: 'Pole' });
    const lists = [{ or: [`subject=${plain.clientId}`] }, { or: ['jwt_role=keeper'] }];
    const id = await scene.policy('Pole', { user_attributes: lists, asset_attributes_read: ['*'] });
    expect((await plain.get(`/archivist/v2/${asset}`)).status).toBe(404);
    await scene.change(owner, `/archivist/iam/v1/${id}`, {
      access_permissions: [{ user_attributes: lists.slice(0, 1), asset_attributes_read: ['*'] }],
    });
    expect((await plain.get(`/archivist/v2/${asset}`)).status).toBe(200);
  });

  it('leaves one event on every asset that it matches, at each version, by Archivist Internal', async () => {
    const asset = await scene.asset({ arc_display_type: 'Sign' });
    const other = await scene.asset({ arc_display_type: 'Post' });
    const id = await scene.policy('Sign', {});
    await scene.change(owner, `/archivist/iam/v1/${id}`, { description: 'again' });
    const path = `/archivist/v2/${asset}/events?event_attributes.arc_display_type=arc_access_policy`;
    let events: Record<string, Record<string, unknown>>[] = [];
    for (let tries = 0; tries < 100 && events.length < 2; tries += 1) {
      await new Promise((wake) => setTimeout(wake, 100));
      events = (await owner.get(path)).json['events'] as typeof events;
    }
    expect(events.map((event) => event['event_attributes']!['arc_access_policy_version'])).toEqual(['2', '1']);
    for (const event of events) {
      expect(event).toMatchObject({
        operation: 'Record',
        behaviour: 'Builtin',
        principal_accepted: { display_name: 'Archivist Internal' },
        event_attributes: { arc_access_policy_identity: id },
      });
      expect(event['event_attributes']!['arc_access_policy_digest']).toMatch(/^[0-9a-f]{64}$/);
    }
    expect((await owner.get(`/archivist/v2/${other}/events`)).json['events']).toHaveLength(1);
  });

  it('is said of in the security audit', async () => {
    const id = await scene.policy('Audited', {});
    const { json } = await owner.get('/archivist/v1/security_events?page_size=1');
    expect((json['security_events'] as unknown[])[0]).toMatchObject({
      attributes: { action: 'access_policy.create', resource: id, actor: { subject: owner.clientId } },
    });
  });
});

describe('another tenancy', () => {
  it('finds no policy of ours', async () => {
    const stranger = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const id = await scene.policy('Ours', {});
    const path = `/archivist/iam/v1/${id}`;
    const answers = [
      await stranger.get(path),
      await stranger.get(`${path}/assets`),
      await scene.change(stranger, path, { display_name: 'taken' }),
      await scene.remove(stranger, path),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const made = await stranger.post(POLICIES, { ...policy, tenant: (await owner.get(path)).json['tenant'] });
    expect(made.json['tenant']).not.toBe((await owner.get(path)).json['tenant']);
  });
});
