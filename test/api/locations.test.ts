import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRequest } from './send-request.js';
import { type Answer, type Client, startTestService, type TestService } from './test-service.js';

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

const LOCATIONS = '/archivist/v2/locations';
const place = (displayName: string, more: Record<string, unknown> = {}) => ({
  display_name: displayName,
  latitude: 53.2546799,
  longitude: -2.1213956,
  ...more,
});
const made = async (body: Record<string, unknown>) => {
  const { status, json } = await owner.post(LOCATIONS, body);
  expect(status).toBe(200);
  return `/archivist/v2/${json['identity']}`;
};
const patch = (path: string, body: unknown, client = owner) => sendRequest(running.url, client, 'PATCH', path, body);
const remove = (path: string, client = owner) => sendRequest(running.url, client, 'DELETE', path);
const names = (answer: Answer) =>
  (answer.json['locations'] as { display_name: string }[]).map((each) => each.display_name);

describe('locations', () => {
  it('are created with the fields of the interface, owned by the wallet of the tenancy', async () => {
    const attributes = { 'Facility Type': 'Manufacture', contact: { phone: 'unknown' } };
    const { status, json } = await owner.post(LOCATIONS, place('Created', { description: 'here', attributes }));
    const asset = await owner.post('/archivist/v2/assets', { attributes: {} });
    expect(status).toBe(200);
    expect(json).toEqual({
      identity: expect.stringMatching(/^locations\/[0-9a-f-]{36}$/),
      display_name: 'Created',
      description: 'here',
      latitude: 53.2546799,
      longitude: -2.1213956,
      attributes,
      owner: asset.json['owner'],
      tenant: asset.json['tenant_identity'],
    });
    for (const client of [owner, colleague])
      expect((await client.get(`/archivist/v2/${json['identity']}`)).json).toEqual(json);
  });

  it('lie on the globe, its edges included', async () => {
    for (const latitude of [-90, 0, 90]) await made(place('Edge', { latitude, longitude: -180 }));
    await made(place('Edge', { latitude: 0, longitude: 180 }));
    const beyond: [string, unknown][] = [
      ['latitude', 90.000001],
      ['latitude', -91],
      ['longitude', 180.1],
      ['longitude', -181],
      ['latitude', '91'],
      ['latitude', ''],
      ['latitude', 'north'],
      ['latitude', '0x10'],
      ['longitude', null],
    ];
    for (const [field, value] of beyond) {
      const { status, json } = await owner.post(LOCATIONS, place('Beyond', { [field]: value }));
      expect([field, value, status]).toEqual([field, value, 400]);
      expect(json['description']).toMatch(new RegExp(`^${field}: `));
    }
    const path = await made(place('Stays'));
    expect((await patch(path, { latitude: 91 })).status).toBe(400);
    expect((await owner.get(path)).json['latitude']).toBe(53.2546799);
  });

  it('take their coordinates as texts too, and answer with numbers', async () => {
    const texts = { latitude: '37.5', longitude: '-122.1' };
    const created = await owner.post(LOCATIONS, place('Texts', texts));
    expect([created.status, created.json]).toMatchObject([200, { latitude: 37.5, longitude: -122.1 }]);
    const changed = await patch(`/archivist/v2/${created.json['identity']}`, { latitude: '-5' });
    expect([changed.status, changed.json]).toMatchObject([200, { latitude: -5, longitude: -122.1 }]);
  });

  it('are refused without a name, and with a name or an attribute that cannot be', async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{ display_name: undefined }, 'display_name'],
      [{ display_name: '' }, 'display_name'],
      [{ display_name: 'x'.repeat(129) }, 'display_name'],
      [{ description: 'x'.repeat(8097) }, 'description'],
      [{ attributes: { size: 5 } }, 'attributes.size'],
      [{ attributes: { jit_x: 'y' } }, 'attributes.jit_x'],
    ];
    for (const [body, field] of wrong) {
      const { status, json } = await owner.post(LOCATIONS, place('Wrong', body));
      expect([status, json['description']]).toEqual([400, expect.stringMatching(new RegExp(`^${field}: `))]);
    }
  });

  it('are found by name, description and attribute, newest first or by name, and page', async () => {
    for (const name of ['b', 'ä', 'a', 'b'])
      await made(place(name, { description: 'paged', attributes: { site: `${name}-site` } }));
    const list = (query: string) => colleague.get(`${LOCATIONS}?description=paged&${query}`);
    expect(names(await list('display_name=a'))).toEqual(['a']);
    expect(names(await list('attributes.site=b-site'))).toEqual(['b', 'b']);
    for (const [order, expected] of [
      ['DEFAULT', ['b', 'a', 'ä', 'b']],
      ['DISPLAY_NAME', ['a', 'b', 'b', 'ä']],
    ] as const) {
      const first = await list(`order_by=${order}&page_size=3`);
      expect(first.headers.get('x-total-count')).toBe('4');
      const token = encodeURIComponent(String(first.json['next_page_token']));
      const second = await colleague.get(`${LOCATIONS}?page_token=${token}`);
      expect([...names(first), ...names(second)]).toEqual(expected);
      expect(second.json['next_page_token']).toBe('');
    }
    expect((await list('order_by=SIZE')).json['description']).toMatch(/^order_by: /);
    expect((await list('colour=red')).json['description']).toMatch(/^colour: /);
  });

  it('are sorted by name, equal names by id, and pages follow that order', async () => {
    const sorted = [
      'Depot',
      'Depot',
      'Depot\tat',
      'Depot "x", {y}\\z',
      'Depot #2',
      'Depot (old)',
      'Depot 00',
      'Depot a',
      'Depots',
    ];
    const identities = new Map<string, string[]>();
    for (const name of sorted.toReversed()) {
      const { identity } = (await owner.post(LOCATIONS, place(name, { description: 'walked' }))).json;
      identities.set(name, [...(identities.get(name) ?? []), String(identity)]);
    }
    const query = `${LOCATIONS}?order_by=DISPLAY_NAME&description=walked`;
    expect(names(await colleague.get(query))).toEqual(sorted);
    const walked: string[] = [];
    let token = '';
    do {
      const page = await colleague.get(`${query}&page_size=1&page_token=${encodeURIComponent(token)}`);
      const [entry] = page.json['locations'] as { identity: string; display_name: string }[];
      walked.push(entry!.identity);
      token = String(page.json['next_page_token']);
    } while (token);
    expect(walked).toEqual([...new Set(sorted)].flatMap((name) => identities.get(name)!.toSorted()));
  });

  it('change in the fields that are sent, attributes as a whole', async () => {
    const path = await made(place('Before', { description: 'd', attributes: { a: 'x', b: 'y' } }));
    const changed = await patch(path, { display_name: 'After', longitude: 10, attributes: { b: 'z' } });
    expect([changed.status, changed.json]).toEqual([200, (await owner.get(path)).json]);
    expect(changed.json).toMatchObject({
      display_name: 'After',
      description: 'd',
      latitude: 53.2546799,
      longitude: 10,
    });
    expect(changed.json['attributes']).toEqual({ b: 'z' });
    expect((await patch(path, { description: '' })).json['description']).toBe('');
    expect((await patch(path, { identity: 'locations/other', owner: 'me' })).json).toEqual(
      (await owner.get(path)).json,
    );
  });

  it('change only in the fields that the mask names; those that the body lacks are emptied', async () => {
    const path = await made(place('Masked', { description: 'before', attributes: { a: 'x' } }));
    const body = { display_name: 'Other', description: 'after', latitude: 1 };
    const changed = await patch(`${path}?mask=description,latitude`, body);
    expect(changed.json).toMatchObject({ display_name: 'Masked', description: 'after', latitude: 1 });
    const emptied = await patch(`${path}?mask=description,longitude,attributes`, { display_name: 'Other' });
    expect(emptied.json).toMatchObject({ display_name: 'Masked', description: '', latitude: 1, longitude: 0 });
    expect(emptied.json['attributes']).toEqual({});
    const nameless = await patch(`${path}?mask=display_name`, {});
    expect([nameless.status, nameless.json['description']]).toEqual([400, expect.stringMatching(/^display_name: /)]);
    const wrong = await patch(`${path}?mask=description,colour`, body);
    expect([wrong.status, wrong.json['description']]).toEqual([400, expect.stringMatching(/^mask: .*"colour"/)]);
  });

  it('are deleted with an empty object as the answer', async () => {
    const path = await made(place('Gone'));
    const deleted = await remove(path);
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
    expect((await remove(path)).status).toBe(404);
    for (const gone of [path, `${path}/permissions`]) expect((await owner.get(gone)).status).toBe(404);
    expect((await patch(path, { display_name: 'x' })).status).toBe(404);
    expect((await patch(`${path}/permissions`, { subject_identities: [] })).status).toBe(404);
  });

  it('are written by Owners unless others are permitted, and of another tenancy are not there', async () => {
    const path = await made(place('Guarded'));
    const permissions = { subject_identities: ['me'] };
    expect((await colleague.post(LOCATIONS, place('x'))).status).toBe(403);
    for (const [client, status] of [[colleague, 403] as const, [stranger, 404] as const]) {
      expect((await patch(path, { display_name: 'x' }, client)).status).toBe(status);
      expect((await patch(`${path}/permissions`, permissions, client)).status).toBe(status);
      expect((await remove(path, client)).status).toBe(status);
    }
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.get(`${path}/permissions`)).status).toBe(404);
    expect((await stranger.get(LOCATIONS)).json['locations']).toEqual([]);
    expect((await owner.get(path)).json['display_name']).toBe('Guarded');
  });
});

describe('permissions of a location', () => {
  it('begin empty, and are replaced by a whole record or by its inner object', async () => {
    const path = await made(place('Permitted'));
    const identity = path.slice('/archivist/v2/'.length);
    const answer = (subjects: string[]) => ({
      location_identity: identity,
      permissions: { subject_identities: subjects },
    });
    expect((await colleague.get(`${path}/permissions`)).json).toEqual(answer([]));
    const inner = { subject_identities: ['subjects/a', 'subjects/b', 'subjects/a'] };
    expect((await patch(`${path}/permissions`, inner)).json).toEqual(answer(['subjects/a', 'subjects/b']));
    const whole = { location_identity: 'locations/other', permissions: { subject_identities: ['subjects/c'] } };
    expect((await patch(`${path}/permissions`, whole)).json).toEqual(answer(['subjects/c']));
    expect((await owner.get(`${path}/permissions`)).json).toEqual(answer(['subjects/c']));
  });

  it('let an application change and delete the location, and do nothing else', async () => {
    for (const name of [colleague.clientId, `applications/${colleague.clientId}`]) {
      const path = await made(place('Shared'));
      const other = await made(place('Not shared'));
      await patch(`${path}/permissions`, { subject_identities: ['somebody@example.com', name] });
      expect((await patch(path, { display_name: 'Changed' }, colleague)).json['display_name']).toBe('Changed');
      expect((await patch(other, { display_name: 'x' }, colleague)).status).toBe(403);
      expect((await patch(`${path}/permissions`, { subject_identities: [] }, colleague)).status).toBe(403);
      expect((await colleague.post(LOCATIONS, place('x'))).status).toBe(403);
      expect((await patch(path, { display_name: 'x' }, stranger)).status).toBe(404);
      expect((await remove(path, colleague)).status).toBe(200);
    }
  });

  it('let the Owners of another organisation change it, once both have imported each other', async () => {
    const subjects = '/archivist/iam/v1/subjects';
    const self = async (client: Client) =>
      (await client.get(`${subjects}/00000000-0000-0000-0000-000000000000`)).json as { wallet_pub_key: string[] };
    const known = async (client: Client, other: Client) => {
      const { wallet_pub_key } = await self(other);
      return String((await client.post(subjects, { display_name: 'Other', wallet_pub_key })).json['identity']);
    };
    const path = await made(place('Shared with a partner'));
    const partner = await known(owner, stranger);
    await patch(`${path}/permissions`, { subject_identities: [partner] });
    expect((await patch(path, { display_name: 'x' }, stranger)).status).toBe(404);
    const back = await known(stranger, owner);
    expect((await patch(path, { display_name: 'By the partner' }, stranger)).json['display_name']).toBe(
      'By the partner',
    );
    expect((await stranger.get(path)).json).toEqual((await owner.get(path)).json);
    expect((await patch(`${path}/permissions`, { subject_identities: [] }, stranger)).status).toBe(404);
    const other = await made(place('Not shared'));
    expect((await patch(other, { display_name: 'x' }, stranger)).status).toBe(404);
    expect((await remove(other, stranger)).status).toBe(404);
    await remove(`/archivist/iam/v1/${back}`, stranger);
    expect((await patch(path, { display_name: 'y' }, stranger)).status).toBe(404);
    await known(stranger, owner);
    expect((await remove(path, stranger)).status).toBe(200);
    expect((await owner.get(path)).status).toBe(404);
  });

  it('are refused when they are no list of texts', async () => {
    const path = await made(place('Refused'));
    for (const body of [
      {},
      { permissions: {} },
      { subject_identities: 'a' },
      { subject_identities: ['x'.repeat(129)] },
    ])
      expect((await patch(`${path}/permissions`, body)).status).toBe(400);
  });
});
