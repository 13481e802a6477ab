import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, startTestService, type TestService, until } from './test-service.js';

const SEARCH = '/archivist/v1/events/search';
const LIST = '/archivist/v1/events';
let running: TestService;
let owner: Client;
const ids: string[] = [];

beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  const wanted = [
    { trails: ['calls', 'sales'], event_type: 'created' },
    { trails: ['calls'], event_type: 'redacted' },
    { trails: ["it's"], event_type: 'created' },
  ];
  for (const [each, event] of wanted.entries()) {
    const attributes = { subject: 'vcon://a', call_id: `call ${each}` };
    const { json } = await owner.post('/archivist/v1/events', { ...event, attributes });
    ids.push(String(json['identity']));
  }
  for (const id of ids) {
    await until(
      () => owner.get(`/archivist/v1/${id}`),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      30_000,
    );
  }
});
afterAll(() => running?.close());

async function found(body: Record<string, unknown>, client = owner) {
  const answer = await client.post(SEARCH, body);
  expect(answer.status).toBe(200);
  const events = answer.json['events'] as { identity: string; ledger_entry: Record<string, string> }[];
  return {
    events,
    places: events.map(({ identity }) => ids.indexOf(identity)),
    total: Number(answer.headers.get('x-total-count')),
  };
}

describe('the list of asset-free events', () => {
  it.each([
    ['', [2, 1, 0]],
    ['event_attributes.call_id=call 1', [1]],
    ['attributes.call_id=call 1', [1]],
    ['attributes.call_id=call 9', []],
    ['attributes.call_id!=call 1', [2, 0]],
    ['attributes.subject=vcon://a&event_type=created', [2, 0]],
    ['attributes.subject=*', [2, 1, 0]],
    ['attributes.missing!=*', [2, 1, 0]],
    ['trails=calls', [1, 0]],
    ["trails=it's", [2]],
    ['trails=call', []],
    ['created_by=somebody else', []],
    ['timestamp_accepted_since=2020-01-01T00:00:00Z&timestamp_accepted_before=2999-01-01T00:00:00Z', [2, 1, 0]],
    ['timestamp_accepted_before=2020-01-01T00:00:00Z', []],
    ['confirmation_status=CONFIRMED', [2, 1, 0]],
    ['minimum_trust=COMMITTED', [2, 1, 0]],
    ['minimum_trust=UNEQUIVOCAL', []],
    ['confirmation_status=STORED', []],
  ])('answers %j newest first', async (query, places) => {
    const answer = await owner.get(`${LIST}?${query.replaceAll(' ', '%20')}`);
    expect(answer.status).toBe(200);
    const events = answer.json['events'] as { identity: string }[];
    expect(events.map(({ identity }) => ids.indexOf(identity))).toEqual(places);
    expect(answer.headers.get('x-total-count')).toBe(String(places.length));
  });

  it('begins and ends at a time that is finer than a millisecond', async () => {
    const { created_at: acceptedMs } = (await owner.get(`/archivist/v1/${ids[0]}`)).json;
    const [own, finer] = ['', '456'].map((more) => new Date(Number(acceptedMs)).toISOString().replace('Z', `${more}Z`));
    const has = async (filter: string) => {
      const { json } = await owner.get(`${LIST}?attributes.call_id=call%200&${filter}`);
      return (json['events'] as unknown[]).length > 0;
    };
    expect(await has(`timestamp_accepted_since=${own}`)).toBe(true);
    expect(await has(`timestamp_accepted_since=${finer}`)).toBe(false);
    expect(await has(`timestamp_accepted_before=${finer}`)).toBe(true);
    expect(await has(`timestamp_accepted_before=${own}`)).toBe(false);
  });

  it('shows each as it is read by its id, and pages by token', async () => {
    const first = await owner.get(`${LIST}?page_size=2&attributes.subject=vcon://a`);
    const events = first.json['events'] as { identity: string }[];
    expect(events.map(({ identity }) => ids.indexOf(identity))).toEqual([2, 1]);
    expect(events[0]).toEqual((await owner.get(`/archivist/v1/${events[0]!.identity}`)).json);
    const token = encodeURIComponent(String(first.json['next_page_token']));
    const second = await owner.get(`${LIST}?page_size=2&page_token=${token}`);
    expect(second.json).toMatchObject({ events: [{ identity: ids[0] }], next_page_token: '' });
  });

  it('refuses a filter that it does not have, by its name', async () => {
    const refused = await owner.get(`${LIST}?operation=Record`);
    expect(refused).toMatchObject({
      status: 400,
      json: {
        description: expect.stringMatching(/^operation: no such filter; this list has attributes\.<name>, .*trails/),
      },
    });
  });
});

describe('the search of asset-free events', () => {
  it.each([
    ['', [2, 1, 0]],
    ["trails/any(t: t eq 'calls')", [1, 0]],
    ["trails/any(t: t eq 'it''s')", [2]],
    ["event_type eq 'created' and not trails/any(t: t eq 'calls')", [2]],
    ["event_type ne 'created' or (event_type eq 'created' and trails/any(t: t eq 'sales'))", [1, 0]],
    ["created_at gt '2020-01-01T00:00:00Z' and created_at lt 32503680000000", [2, 1, 0]],
    ["created_at gt '1577836800000'", [2, 1, 0]],
    ['ledger_entry/index gt 99999', []],
    ["created_by eq 'somebody else'", []],
  ])('answers %j newest first', async (filter, places) => {
    expect(await found({ filter })).toMatchObject({ places, total: places.length });
  });

  it('finds each event by every field of its own ledger entry, origin and creator', async () => {
    const { events } = await found({});
    for (const { identity, ledger_entry: entry } of events) {
      const { json } = await owner.get(`/archivist/v1/${identity}`);
      const tenancy = String(json['origin_tenant']);
      expect(entry).toEqual({
        index: expect.stringMatching(/^\d+$/),
        idtimestamp: expect.stringMatching(/^01[0-9a-f]{16}$/),
        content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        hash_schema: 'v0',
        log_id: tenancy.slice('tenant/'.length),
      });
      expect(json['merklelog_commit']).toEqual({ index: entry['index'], idtimestamp: entry['idtimestamp'] });
      for (const filter of [
        `ledger_entry/index eq ${entry['index']}`,
        `ledger_entry/idtimestamp eq '${entry['idtimestamp']}'`,
        `ledger_entry/index ge ${entry['index']} and ledger_entry/index le ${entry['index']}`,
        `ledger_entry/index gt ${Number(entry['index']) - 1} and ledger_entry/index lt ${Number(entry['index']) + 1}`,
        `ledger_entry/idtimestamp ge '${entry['idtimestamp']}' and ledger_entry/idtimestamp le '${entry['idtimestamp']}'`,
        `created_by eq '${json['created_by']}' and ledger_entry/index eq ${entry['index']}`,
        `ledger_entry/content_hash eq '${entry['content_hash']}' and origin_tenant eq '${tenancy}'`,
      ]) {
        expect((await found({ filter })).events.map((event) => event.identity)).toEqual([identity]);
      }
    }
  });

  it('finds nothing where no event can be, and all where every event is', async () => {
    for (const filter of [
      "origin_tenant eq 'tenant/x'",
      "ledger_entry/idtimestamp eq 'x'",
      "ledger_entry/idtimestamp gt '01ffffffffffffffff'",
      "ledger_entry/content_hash eq 'x'",
      'ledger_entry/index lt 0',
      'ledger_entry/index eq 9223372036854775807',
      `event_type eq '${'é'.repeat(600)}'`,
    ])
      expect(await found({ filter }), filter).toMatchObject({ events: [], total: 0 });
    for (const filter of [
      'ledger_entry/index ge -5',
      'ledger_entry/index lt 9223372036854775807',
      "ledger_entry/idtimestamp gt '00'",
      "ledger_entry/idtimestamp lt 'x'",
      "not (origin_tenant eq 'tenant/x')",
    ])
      expect(await found({ filter }), filter).toMatchObject({ total: 3 });
  });

  it('pages by skip until the total is reached, at most 50 at once', async () => {
    expect(await found({ top: 2 })).toMatchObject({ places: [2, 1], total: 3 });
    expect(await found({ top: 2, skip: 2 })).toMatchObject({ places: [0], total: 3 });
    expect(await found({ top: 500, skip: 3 })).toMatchObject({ places: [], total: 3 });
    expect(await found({ top: '1', skip: '1' })).toMatchObject({ places: [1], total: 3 });
  });

  it('points at the character of a filter that it does not understand', async () => {
    const { status, json } = await owner.post(SEARCH, { filter: "event_type like 'x'" });
    expect({ status, error: json['error'] }).toEqual({ status: 400, error: 'bad_request' });
    expect(json['description']).toMatch(/filter: .* at character 12/);
    expect((await owner.post(SEARCH, { filter: 7 })).status).toBe(400);
    for (const wrong of [{ skip: -1 }, { skip: '-1' }, { top: '' }, { top: 'many' }, { top: '1.5' }])
      expect((await owner.post(SEARCH, wrong)).status).toBe(400);
  });

  it('shows an application its own events alone, and another tenancy nothing', async () => {
    const plain = await running.client({ roles: [] });
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    expect(await found({}, plain)).toMatchObject({ events: [], total: 0 });
    expect(await found({}, stranger)).toMatchObject({ events: [], total: 0 });
  });

  it('tells trails apart that begin alike, and reads a filter around a trail as it is written', async () => {
    const long = 'é'.repeat(1000);
    await owner.post('/archivist/v1/events', { attributes: {}, trails: [], event_type: long });
    expect(await found({ filter: `event_type eq '${long}'` })).toMatchObject({ total: 1 });
    for (const trails of [
      [`${long}1`.slice(-1000), 'long'],
      [`${long}2`.slice(-1000), 'long'],
      ['long', 'long'],
    ]) {
      await owner.post('/archivist/v1/events', { attributes: {}, trails, event_type: trails[0]!.slice(-1) });
    }
    const types = async (filter: string) =>
      (await found({ filter })).events.map((event) => (event as unknown as { event_type: string }).event_type);
    const first = `trails/any(t: t eq '${long.slice(1)}1')`;
    const onLong = "trails/any(t: t eq 'long')";
    expect(await types(first)).toEqual(['1']);
    expect(await types(onLong)).toEqual(['g', '2', '1']);
    expect(await types(`${onLong} and ${first}`)).toEqual(['1']);
    expect(await types(`${onLong} and not ${first}`)).toEqual(['g', '2']);
    expect(await types(`${onLong} and (${first} or event_type eq '2')`)).toEqual(['2', '1']);
    expect(await types(`${onLong} and trails/any(x: x ne 'long')`)).toEqual(['2', '1']);
    expect(await types(`${onLong} and trails/any(x: x gt 'z' and x lt '~')`)).toEqual([]);
  });

  it('is JSON whatever its content type says, and finds what is not yet in a log', async () => {
    const { json } = await owner.post('/archivist/v1/events', { attributes: {}, trails: ['now'] });
    const body = JSON.stringify({ filter: "trails/any(t: t eq 'now')" });
    const answer = await owner.post(SEARCH, body, { 'content-type': 'application/x-www-form-urlencoded' });
    expect(answer.status).toBe(200);
    expect(answer.json['events']).toMatchObject([{ identity: json['identity'] }]);
  });

  it.each([
    ["event_type eq 'created' and", /^filter: .* at character 28$/],
    ["trails eq 'calls'", /^filter: .* at character 1$/],
    ["created_at gt 'soon'", /^filter: .* at character 15$/],
    ["event_type eq 'open", /^filter: .* at character 15$/],
    [`${'('.repeat(1000)}event_type eq 'x'${')'.repeat(1000)}`, /^filter: .* at character 33$/],
    ["event_type eq 'a\u0000b'", /^filter: .* at character 17$/],
  ])('refuses %j at its character', async (filter, description) => {
    const answer = await owner.post(SEARCH, { filter });
    expect(answer.status).toBe(400);
    expect(answer.json['description']).toMatch(description);
  });
});

describe('the list of asset-free events for an application without rights', () => {
  it('has only those that it recorded', async () => {
    const other = await running.client({});
    expect((await other.get(LIST)).json['events']).toEqual([]);
    const { json } = await other.post(LIST, { attributes: { call_id: 'call 1' } });
    const seen = await other.get(`${LIST}?attributes.call_id=call%201`);
    expect(seen.json['events']).toMatchObject([{ identity: json['identity'] }]);
  });
});
