import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, startTestService, type TestService, until } from './test-service.js';

const ASSETS = '/archivist/v2/assets';
const ALL = `${ASSETS}/-/events`;

let running: TestService;
let owner: Client;
let open: string;
/** Every event as it is shown once the log has it. */
const shown = new Map<string, Record<string, unknown>>();

const ASSETS_MADE = {
  car: {
    attributes: { colour: 'red', subject: 'vcon://car', arc_display_type: 'Car', 'tyres.front': 'new' },
    proof_mechanism: 'SIMPLE_HASH',
  },
  boat: {
    attributes: { colour: '', tyres: { front: 'none' }, list: ['x'], arc_display_type: 'Boat' },
    public: true,
  },
  box: { attributes: { colour: ['red'], subject: 'vcon://box', empty: {} } },
};
const DECLARED = { issuer: 'an idp', subject: 'bob', display_name: 'Bob & Co', email: 'bob@example.com' };
/** On the car but for the last, which is on the boat. */
const EVENTS_MADE = {
  paint: {
    event_attributes: { arc_display_type: 'Paint', subject: 'vcon://car', note: 'a=b' },
    asset_attributes: { coat: { colour: 'blue' } },
    principal_declared: DECLARED,
    timestamp_declared: '2020-02-03T04:05:06Z',
  },
  check: { event_attributes: { arc_display_type: 'Check', note: '', seen: [{ by: 'x' }] } },
  stop: { operation: 'StopTracking', behaviour: 'Builtin' },
  start: { operation: 'StartTracking', behaviour: 'Builtin' },
  sail: { event_attributes: { arc_display_type: 'Sail', note: '*' } },
};

beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  const identities: Record<string, string> = {};
  for (const [name, body] of Object.entries(ASSETS_MADE)) {
    const attributes = { ...body.attributes, name };
    identities[name] = String((await owner.post(ASSETS, { ...body, attributes })).json['identity']);
  }
  open = identities['boat']!.slice('assets/'.length);
  for (const [name, body] of Object.entries(EVENTS_MADE)) {
    const event = { operation: 'Record', behaviour: 'RecordEvidence', ...body };
    const attributes = { name, ...('event_attributes' in body ? body.event_attributes : {}) };
    const asset = identities[name === 'sail' ? 'boat' : 'car'];
    const { json } = await owner.post(`/archivist/v2/${asset}/events`, { ...event, event_attributes: attributes });
    const committed = await until(
      () => owner.get(`/archivist/v2/${json['identity']}`),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      30_000,
    );
    shown.set(name, committed.json);
  }
});
afterAll(() => running?.close());

async function assets(query: string): Promise<string[]> {
  const { status, json } = await owner.get(`${ASSETS}?${query}`);
  expect([status, json['description']]).toEqual([200, undefined]);
  return (json['assets'] as { attributes: { name: string } }[]).map((asset) => asset.attributes.name);
}

/** The names of the events that are not an asset's first. */
async function events(query: string, path = ALL): Promise<string[]> {
  const { status, json } = await owner.get(`${path}?${query}`);
  expect([status, json['description']]).toEqual([200, undefined]);
  const found = json['events'] as { operation: string; event_attributes: { name: string } }[];
  return found.filter(({ operation }) => operation !== 'NewAsset').map((event) => event.event_attributes.name);
}

const EVERY_ASSET = ['box', 'boat', 'car'];
const EVERY_EVENT = ['sail', 'start', 'stop', 'check', 'paint'];
const on = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();

describe('attribute filters of assets', () => {
  it.each([
    ['attributes.colour=red', ['car']],
    ['attributes.colour=*', ['box', 'car']],
    ['attributes.colour!=*', ['boat']],
    ['attributes.colour!=red', ['box', 'boat']],
    ['attributes.missing!=*', EVERY_ASSET],
    ['attributes.missing=*', []],
    ['attributes.empty!=*', EVERY_ASSET],
    ['attributes.list=*', ['boat']],
    ['attributes.tyres.front=new', ['car']],
    ['attributes.tyres.front=none', ['boat']],
    ['attributes.tyres.front=*', ['boat', 'car']],
    ['attributes.subject=vcon%3A%2F%2Fcar', ['car']],
    ['attributes.arc_display_type=Boat', ['boat']],
    ['attributes.arc_display_type!=Boat', ['box', 'car']],
    ['attributes.colour=red&attributes.arc_display_type=Boat', []],
    ['attributes.name=car&attributes.name=box', []],
    ['any=attributes.name%3Dcar&any=attributes.name%3Dbox', ['box', 'car']],
    ['any=attributes.name%3Dcar&any=attributes.name%3Dbox&privacy=PUBLIC', []],
  ])('%s', async (query, names) => {
    expect(await assets(query)).toEqual(names);
  });

  it('say which character they do not understand', async () => {
    const { status, json } = await owner.get(`${ASSETS}?attributes.=x`);
    expect(status).toBe(400);
    expect(json['description']).toMatch(/^attributes\.: .* at character 12$/);
  });

  it('are counted as they are listed', async () => {
    const answer = await owner.get(`${ASSETS}?attributes.colour=*&page_size=1`, { 'x-request-total-count': 'true' });
    expect(answer.headers.get('x-total-count')).toBe('2');
  });
});

describe('filters by attribute in brackets, as clients of the original’s OpenAPI documents send them', () => {
  it.each([
    ['attributes[colour]=red', ['car']],
    ['attributes%5Bcolour%5D=red', ['car']],
    ['attributes[colour]!=red', ['box', 'boat']],
    ['attributes[tyres][front]=none', ['boat']],
    ['any=attributes[name]%3Dcar&any=attributes[name]%3Dbox', ['box', 'car']],
  ])('find the assets of the form with dots: %s', async (query, names) => {
    expect(await assets(query)).toEqual(names);
  });

  it.each([
    ['event_attributes[arc_display_type]=Check', ALL, ['check']],
    ['event_attributes[note]!=*', ALL, ['start', 'stop', 'check']],
    ['asset_attributes[coat][colour]=blue', ALL, ['paint']],
    ['asset.attributes[arc_display_type]=Boat', ALL, ['sail']],
    ['event_attributes[arc_display_type]=Sail', 'public', ['sail']],
    ['event_attributes[arc_display_type]=Check', 'public', []],
  ])('find the events of the form with dots: %s in %s', async (query, list, names) => {
    const path = list === ALL ? ALL : `/archivist/v2/publicassets/${open}/events`;
    expect(await events(query, path)).toEqual(names);
  });

  it('find the locations of the form with dots, except that an attribute’s own name can have brackets', async () => {
    const made = { display_name: 'Depot', latitude: 1, longitude: 2, attributes: { floor: '2', 'a[b]': 'c' } };
    const { identity } = (await owner.post('/archivist/v2/locations', made)).json;
    const found = async (query: string) => {
      const { json } = await owner.get(`/archivist/v2/locations?${query}`);
      return (json['locations'] as { identity: string }[]).map((location) => location.identity);
    };
    expect(await found('attributes[floor]=2')).toEqual([identity]);
    expect(await found('attributes[floor]=3')).toEqual([]);
    expect(await found('attributes.a[b]=c')).toEqual([identity]);
    expect((await owner.get('/archivist/v2/locations?attributes[]=x')).status).toBe(400);
  });

  it('go on with the page token of either form', async () => {
    const first = await owner.get(`${ASSETS}?attributes[colour]=*&page_size=1`);
    const token = String(first.json['next_page_token']);
    expect(await assets(on({ 'attributes.colour': '*', page_token: token }))).toEqual(['car']);
    expect(await assets(on({ 'attributes[colour]': '*', page_token: token }))).toEqual(['car']);
  });
});

describe('other filters of assets', () => {
  it.each([
    ['confirmation_status=CONFIRMATION_STATUS_UNSPECIFIED', EVERY_ASSET],
    ['tracked=&confirmation_status=&proof_mechanism=&order_by=', EVERY_ASSET],
    ['attributes.timestamp_since=', []],
    ['confirmation_status=CONFIRMED', EVERY_ASSET],
    ['confirmation_status=STORED', []],
    ['confirmation_status=PENDING', []],
    ['confirmation_status=FAILED', []],
    ['tracked=TRACKED_STATUS_UNSPECIFIED', EVERY_ASSET],
    ['tracked=TRACKED', EVERY_ASSET],
    ['tracked=NOT_TRACKED', []],
    ['tracked=ANY', EVERY_ASSET],
    ['proof_mechanism=PROOF_MECHANISM_UNSPECIFIED', EVERY_ASSET],
    ['proof_mechanism=SIMPLE_HASH', ['car']],
    ['proof_mechanism=MERKLE_LOG', ['box', 'boat']],
    ['proof_mechanism=RESERVED1', []],
    ['privacy=PRIVACY_UNSPECIFIED', EVERY_ASSET],
    ['privacy=PUBLIC', ['boat']],
    ['privacy=RESTRICTED', ['box', 'car']],
    ['chain_id=1', []],
    ['order_by=DEFAULT', EVERY_ASSET],
    ['order_by=SIMPLEHASHV1', EVERY_ASSET.toReversed()],
    ['order_by=SIMPLEHASHV2', EVERY_ASSET.toReversed()],
  ])('%s', async (query, names) => {
    expect(await assets(query)).toEqual(names);
  });

  it('chain_id, of every asset the same', async () => {
    const [first] = (await owner.get(`${ASSETS}?page_size=1`)).json['assets'] as { chain_id: string }[];
    expect(await assets(`chain_id=${first!.chain_id}`)).toEqual(EVERY_ASSET);
  });
});

describe('attribute filters of events', () => {
  it.each([
    ['timestamp_accepted_since=&timestamp_declared_before=&minimum_trust=', EVERY_EVENT],
    ['event_attributes.note=a%3Db', ['paint']],
    ['event_attributes.note!=a%3Db', ['sail', 'start', 'stop', 'check']],
    ['event_attributes.note=*', ['sail', 'paint']],
    ['event_attributes.note!=*', ['start', 'stop', 'check']],
    ['event_attributes.seen=*', ['check']],
    ['event_attributes.subject=vcon%3A%2F%2Fcar', ['paint']],
    ['event_attributes.arc_display_type=Check', ['check']],
    ['asset_attributes.coat.colour=blue', ['paint']],
    ['asset_attributes.coat=*', ['paint']],
    ['asset_attributes.coat!=*', ['sail', 'start', 'stop', 'check']],
    ['asset.attributes.arc_display_type=Boat', ['sail']],
    ['asset.attributes.colour=red', ['start', 'stop', 'check', 'paint']],
    ['asset.attributes.colour!=red', ['sail']],
    ['asset.attributes.coat.colour=*&event_attributes.name=check', ['check']],
    ['any=event_attributes.note%3Da%3Db&any=asset.attributes.arc_display_type%3DBoat', ['sail', 'paint']],
    ['any=event_attributes.name!%3Dcheck&any.2=operation%3DStopTracking&any.2=event_attributes.seen%3D*', ['stop']],
    ['any=event_attributes.name%3Dcheck&event_attributes.note=*', []],
    ['any=event_attributes.name%3Dnone', []],
  ])('%s', async (query, names) => {
    expect(await events(query)).toEqual(names);
  });
});

describe('other filters of events', () => {
  it.each([
    [{ operation: 'StopTracking' }, ['stop']],
    [{ behaviour: 'Builtin' }, ['start', 'stop']],
    [{ 'principal_declared.issuer': DECLARED.issuer }, ['paint']],
    [{ 'principal_declared.subject': DECLARED.subject }, ['paint']],
    [{ 'principal_declared.display_name': DECLARED.display_name }, ['paint']],
    [{ 'principal_declared.email': DECLARED.email }, ['paint']],
    [{ 'principal_accepted.email': DECLARED.email }, []],
    [{ 'principal_accepted.subject': DECLARED.subject }, []],
    [{ timestamp_declared_before: '2020-02-03T04:05:07Z' }, ['paint']],
    [{ timestamp_declared_before: '2020-02-03T04:05:06Z' }, []],
    [{ timestamp_declared_since: '2020-02-03T04:05:06Z' }, EVERY_EVENT],
    [{ timestamp_declared_since: '2020-02-03T05:05:06.001+01:00' }, ['sail', 'start', 'stop', 'check']],
    [{ timestamp_committed_since: '2020-01-01T00:00:00Z' }, EVERY_EVENT],
    [{ timestamp_committed_before: '2020-01-01T00:00:00Z' }, []],
    [{ proof_mechanism: 'MERKLE_LOG' }, ['sail']],
    [{ proof_mechanism: 'SIMPLE_HASH' }, ['start', 'stop', 'check', 'paint']],
    [{ proof_mechanism: 'PROOF_MECHANISM_UNSPECIFIED' }, EVERY_EVENT],
    [{ confirmation_status: 'CONFIRMATION_STATUS_UNSPECIFIED' }, EVERY_EVENT],
    [{ minimum_trust: 'CONFIRMATION_STATUS_UNSPECIFIED' }, EVERY_EVENT],
    [{ minimum_trust: 'STORED' }, EVERY_EVENT],
    [{ minimum_trust: 'UNEQUIVOCAL' }, []],
    [{ transaction_id: '0x07569' }, []],
    [{ from: '0x0000000000000000000000000000000000000000' }, []],
    [{ mmr_index: '2' }, []],
    [{ mmr_index: '999999999' }, []],
    [{ order_by: 'DEFAULT' }, EVERY_EVENT],
    [{ order_by: 'SIMPLEHASHV1' }, EVERY_EVENT.toReversed()],
    [{ order_by: 'SIMPLEHASHV2' }, EVERY_EVENT.toReversed()],
  ] as [Record<string, string>, string[]][])('%j', async (parameters, names) => {
    expect(await events(on(parameters))).toEqual(names);
  });

  it('find each event by what it is shown with, times from and to the very millisecond', async () => {
    for (const [name, event] of shown) {
      const accepted = event['principal_accepted'] as Record<string, string>;
      const { commit } = event['merklelog_entry'] as { commit: { index: string } };
      const next = (time: unknown) => new Date(Date.parse(String(time)) + 1).toISOString();
      const found = await events(
        on({
          from: String(event['from']),
          mmr_index: commit.index,
          'principal_accepted.issuer': accepted['issuer']!,
          'principal_accepted.subject': accepted['subject']!,
          'principal_accepted.display_name': accepted['display_name']!,
          timestamp_accepted_since: String(event['timestamp_accepted']),
          timestamp_accepted_before: next(event['timestamp_accepted']),
          timestamp_committed_since: String(event['timestamp_committed']),
          timestamp_committed_before: next(event['timestamp_committed']),
        }),
      );
      expect(found).toEqual([name]);
    }
  });

  it('find each event by times that are finer than a millisecond', async () => {
    for (const [name, event] of shown)
      for (const time of ['timestamp_accepted', 'timestamp_committed']) {
        const finer = String(event[time]).replace('Z', '456Z');
        expect(await events(on({ [`${time}_before`]: finer }))).toContain(name);
        expect(await events(on({ [`${time}_since`]: finer }))).not.toContain(name);
      }
  });

  it('find a wallet address whatever the case of its letters, also among the public forms', async () => {
    const from = String([...shown.values()][0]!['from']);
    for (const written of [from, from.toLowerCase(), `0x${from.slice(2).toUpperCase()}`]) {
      expect(await events(on({ from: written }))).toEqual(EVERY_EVENT);
      expect(await events(on({ from: written }), `/archivist/v2/publicassets/${open}/events`)).toEqual(['sail']);
    }
  });

  it('reach public forms as well, where principals are blank', async () => {
    const path = `/archivist/v2/publicassets/${open}/events`;
    expect(await events('event_attributes.note=*&asset.attributes.arc_display_type=Boat', path)).toEqual(['sail']);
    expect(await events('event_attributes.note!=*', path)).toEqual([]);
    expect(await events(on({ 'principal_accepted.subject': owner.clientId }), path)).toEqual([]);
  });

  it.each([
    'timestamp_declared_since=yesterday',
    'timestamp_committed_before=2020-02-30T00:00:00Z',
    'mmr_index=first',
    'minimum_trust=MUCH',
    'proof_mechanism=TRUST',
    'principal_declared.age=7',
    'event_attributes.=x',
    'asset.attributes.x=%00',
    'any=name',
    'any.2=colour%3Dred',
    'any=any%3Devent_attributes.x%3Dy',
    'any=confirmation_status%3DSTORED',
    'any=event_attributes.%3Dx',
  ])('%s is a 400 that names the parameter', async (query) => {
    const { status, json } = await owner.get(`${ALL}?${query}`);
    expect(status).toBe(400);
    expect(json['description']).toContain(query.slice(0, query.indexOf('=')));
  });
});

describe('a declared time', () => {
  it('that its month does not have is refused, and keeps no list from being read', async () => {
    const body = { operation: 'Record', behaviour: 'RecordEvidence', timestamp_declared: '2020-02-30T00:00:00Z' };
    const refused = await owner.post(`${ASSETS}/${open}/events`, body);
    expect(refused.status).toBe(400);
    expect(refused.json['description']).toMatch(/^timestamp_declared: /);
    expect(await events('timestamp_declared_before=2020-02-04T00:00:00Z')).toEqual(['paint']);
  });

  it('is compared by every digit, and keeps them when its offset is converted', async () => {
    const made = await owner.post(`${ASSETS}/${open}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: { name: 'fine' },
      timestamp_declared: '2019-02-03T04:05:06.123456+00:00',
    });
    expect(made.json['timestamp_declared']).toBe('2019-02-03T04:05:06.123456Z');
    for (const [parameter, names] of [
      ['timestamp_declared_before=2019-02-03T04:05:06.123457Z', ['fine']],
      ['timestamp_declared_before=2019-02-03T04:05:06.123456Z', []],
      ['timestamp_declared_since=2019-02-03T04:05:06.123456Z&timestamp_declared_before=2020-01-01T00:00:00Z', ['fine']],
      ['timestamp_declared_since=2019-02-03T04:05:06.123457Z&timestamp_declared_before=2020-01-01T00:00:00Z', []],
    ] as const)
      expect([parameter, await events(parameter)]).toEqual([parameter, names]);
  });
});

describe('long filters', () => {
  /** Every asset meets one of them. */
  const longFilters = (digits: readonly string[]) =>
    ['attributes.name=*', ...digits.map((each) => `attributes.x=${each.repeat(4_000)}`)]
      .map((filter) => `any=${encodeURIComponent(filter)}`)
      .join('&');

  it('lead to pages that can be read, by the token alone and with the filters repeated beside it', async () => {
    const query = longFilters(['1', '2', '3']);
    const { status, json } = await owner.get(`${ASSETS}?${query}&page_size=1`);
    expect(status).toBe(200);
    const token = `page_token=${json['next_page_token']}`;
    for (const next of [token, `${query}&${token}`]) expect((await owner.get(`${ASSETS}?${next}`)).status).toBe(200);
  });

  it('are refused at the first page if the next one could not be requested, with what to change', async () => {
    const { status, json } = await owner.get(`${ASSETS}?${longFilters(['1', '2', '3', '4'])}`);
    expect(status).toBe(400);
    expect(json['description']).toBe(
      'the filters have more than 12288 bytes together, and the address of the next page would be too long: send fewer or shorter filters',
    );
  });
});

describe('an asset that is not tracked', () => {
  it('leaves the default list and counts, keeps its history in all events, and at_time shows it tracked before', async () => {
    const identity = (await owner.post(ASSETS, { attributes: { tracking: 'yes', name: 'gone' } })).json['identity'];
    const path = `/archivist/v2/${identity}`;
    const before = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await owner.post(`${path}/events`, { operation: 'StopTracking', behaviour: 'Builtin' });
    expect(await assets('attributes.tracking=yes')).toEqual([]);
    expect(await assets('attributes.tracking=yes&tracked=TRACKED_STATUS_UNSPECIFIED')).toEqual([]);
    expect(await assets('attributes.tracking=yes&tracked=ANY')).toEqual(['gone']);
    expect((await owner.get(`${ASSETS}?attributes.tracking=yes`)).headers.get('x-total-count')).toBe('0');
    expect((await owner.get(path)).json['tracked']).toBe('NOT_TRACKED');
    expect((await owner.get(`${path}?at_time=${before}`)).json['tracked']).toBe('TRACKED');
    const history = (await owner.get(`${ALL}?asset.attributes.tracking=yes`)).json['events'];
    expect(history).toMatchObject([{ operation: 'StopTracking' }, { operation: 'NewAsset' }]);
  });
});
