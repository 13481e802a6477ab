import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, startTestService, type TestService, template, until } from './test-service.js';

let running: TestService;
let owner: Client;
let asset: string;
let other: string;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  asset = String((await owner.post('/archivist/v2/assets', { attributes: { subject: 'vcon://a' } })).json['identity']);
  other = String((await owner.post('/archivist/v2/assets', { attributes: { subject: 'vcon://b' } })).json['identity']);
});
afterAll(() => running?.close());

interface ItemAnswer {
  readonly status: number;
  readonly event?: Record<string, unknown> & { identity: string };
  readonly error?: string;
  readonly description?: string;
}

const ALL = '/archivist/v2/assets/-/events';
const ACROSS = `${ALL}:bulk`;
const FREE = '/archivist/v1/events:bulk';
const ofAsset = () => `/archivist/v2/${asset}/events:bulk`;
const record = (event_attributes: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  operation: 'Record',
  behaviour: 'RecordEvidence',
  event_attributes,
  ...more,
});

async function bulk(path: string, events: unknown[], client = owner): Promise<ItemAnswer[]> {
  const { status, json } = await client.post(path, { events });
  expect([status, json['description']]).toEqual([200, undefined]);
  return json['events'] as ItemAnswer[];
}
const statuses = (answers: readonly ItemAnswer[]) => answers.map(({ status }) => status);
const listed = async (query: string) =>
  (await owner.get(`${ALL}?page_size=1000&order_by=SIMPLEHASHV1&${query}`)).json['events'] as ItemAnswer['event'][];

describe('a bulk request', () => {
  it('records a thousand events, answered, kept and listed in their order', async () => {
    const events = Array.from({ length: 1000 }, (_, n) => record({ thousand: 'yes', n: String(n) }));
    const answers = await bulk(ofAsset(), events);
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    const numbers = answers.map(({ event }) => (event!['event_attributes'] as { n: string }).n);
    expect(numbers).toEqual(events.map(({ event_attributes }) => event_attributes['n']));
    const identities = (await listed('event_attributes.thousand=yes')).map((event) => event!.identity);
    expect(identities).toEqual(answers.map(({ event }) => event!.identity));
  });

  it('answers an event as its own create request would', async () => {
    const [answer] = await bulk(ofAsset(), [record({ shape: 'same' })]);
    const single = await owner.post(`/archivist/v2/${asset}/events`, record({ shape: 'same' }));
    const fixed = ({ identity, timestamp_accepted, timestamp_declared, ...rest }: Record<string, unknown>) => rest;
    expect(fixed(answer!.event!)).toEqual(fixed(single.json));
  });

  it('refuses each wrong event with its reason and keeps the others', async () => {
    const answers = await bulk(ofAsset(), [
      record({ mixed: 'yes' }),
      record({ mixed: 1 }),
      'no object',
      record({ mixed: 'yes' }, { operation: 'Delete' }),
      record({ mixed: 'yes' }, { idempotency_key: 'a b' }),
      record({ mixed: 'yes' }, { timestamp_declared: 'yesterday' }),
      record({ mixed: 'x'.repeat(1024 * 1024) }),
      record({ mixed: Array(10_000).fill('') }),
      record({ mixed: 'yes' }),
    ]);
    expect(statuses(answers)).toEqual([200, 400, 400, 400, 400, 400, 413, 400, 200]);
    expect(answers[1]).toEqual({
      status: 400,
      error: 'bad_request',
      description: expect.stringMatching(/^event_attributes\.mixed: .*string/),
    });
    expect(answers[3]!.description).toMatch(/^operation: /);
    expect(answers[4]!.description).toMatch(/^idempotency_key: /);
    expect(answers[5]!.description).toMatch(/^timestamp_declared: /);
    expect(answers[7]!.description).toMatch(/^The event has more than 10000 values\. /);
    expect(await listed('event_attributes.mixed=yes')).toHaveLength(2);
  });

  it('writes its events in one transaction', async () => {
    const events = Array.from({ length: 300 }, () => record({ together: 'yes' }));
    await bulk(ofAsset(), events);
    await running.asOwner(`DO $$ BEGIN
      IF (SELECT count(DISTINCT xmin::text) FROM archivist.asset_event WHERE event_attributes ->> 'together' = 'yes') <> 1
      THEN RAISE EXCEPTION 'more than one transaction'; END IF; END $$`);
  });

  it('changes the asset by each of its events, later ones over earlier ones', async () => {
    await bulk(
      ofAsset(),
      ['red', 'green', 'blue'].map((colour) => record({}, { asset_attributes: { colour } })),
    );
    expect((await owner.get(`/archivist/v2/${asset}`)).json['attributes']).toMatchObject({ colour: 'blue' });
  });

  it('has statements and receipts for its events like any other', async () => {
    const subject = 'vcon://0190e3a5-0000-7000-8000-00000000b01c';
    const [answer] = await bulk(ofAsset(), [record(template(subject))]);
    const path = `/archivist/v2/${answer!.event!.identity}/transparent-statement`;
    const proof = await until(
      () => owner.get(path),
      ({ status }) => status === 200,
      30_000,
    );
    expect(proof.status).toBe(200);
  });

  it('is refused whole when it is empty, too long, too large, or no list', async () => {
    for (const body of [{}, { events: [] }, { events: {} }, { events: Array(1001).fill({}) }]) {
      const answer = await owner.post(FREE, body);
      expect(answer.status).toBe(400);
      expect(answer.json['description']).toMatch(/^events: /);
    }
    const large = await owner.post(FREE, { events: [{ attributes: { large: 'x'.repeat(8 * 1024 * 1024) } }] });
    expect(large.status).toBe(413);
  });

  it('takes no Idempotency-Key for the whole', async () => {
    const answer = await owner.post(FREE, { events: [{}] }, { 'idempotency-key': 'all' });
    expect(answer.status).toBe(400);
    expect(answer.json['description']).toMatch(/idempotency_key/);
  });
});

describe('an idempotency_key of an event', () => {
  it('makes a repeated bulk answer with the first events', async () => {
    const events = Array.from({ length: 20 }, (_, n) =>
      record({ repeated: 'yes' }, { idempotency_key: `repeat-${n}` }),
    );
    const [first, second] = [await bulk(ofAsset(), events), await bulk(ofAsset(), events)];
    expect(second.map(({ event }) => event!.identity)).toEqual(first.map(({ event }) => event!.identity));
    expect(await listed('event_attributes.repeated=yes')).toHaveLength(20);
  });

  it('makes one event of two in one request, and refuses the second when it says something else', async () => {
    const answers = await bulk(ofAsset(), [
      record({ twin: '1' }, { idempotency_key: 'twin' }),
      record({ twin: '1' }, { idempotency_key: 'twin' }),
      record({ twin: '2' }, { idempotency_key: 'twin' }),
    ]);
    expect(statuses(answers)).toEqual([200, 200, 422]);
    expect(answers[1]!.event!.identity).toBe(answers[0]!.event!.identity);
  });

  it('is the key that its own create request carries in the header', async () => {
    const body = record({ either: 'way' });
    const single = await owner.post(`/archivist/v2/${asset}/events`, body, { 'idempotency-key': 'either' });
    for (const [path, more] of [
      [ofAsset(), {}],
      [ACROSS, { asset_identity: asset }],
    ] as const) {
      const [answer] = await bulk(path, [{ ...body, ...more, idempotency_key: 'either' }]);
      expect(answer!.event!.identity).toBe(single.json['identity']);
    }
    const [free] = await bulk(FREE, [{ attributes: { either: 'way' }, idempotency_key: 'either' }]);
    expect(free!.status).toBe(200);
    const again = await owner.post(
      '/archivist/v1/events',
      { attributes: { either: 'way' } },
      { 'idempotency-key': 'either' },
    );
    expect(again.json['identity']).toBe(free!.event!.identity);
  });
});

describe('a bulk request across assets', () => {
  it('records each event on the asset that it names', async () => {
    const answers = await bulk(ACROSS, [
      record({ across: 'yes' }, { asset_identity: asset }),
      record({ across: 'yes' }, { asset_identity: other }),
      record({ across: 'yes' }),
      record({ across: 'yes' }, { asset_identity: 'assets/x' }),
      record({ across: 'yes' }, { asset_identity: 'assets/01947000-0000-7000-8000-000000000000' }),
    ]);
    expect(statuses(answers)).toEqual([200, 200, 400, 400, 404]);
    expect(answers.slice(0, 2).map(({ event }) => event!['asset_identity'])).toEqual([asset, other]);
    for (const { description } of answers.slice(2, 4)) expect(description).toMatch(/^asset_identity: /);
  });

  it('refuses an event that names another asset than the path', async () => {
    const answers = await bulk(ofAsset(), [
      record({}, { asset_identity: asset }),
      record({}, { asset_identity: other }),
    ]);
    expect(statuses(answers)).toEqual([200, 400]);
  });

  it('writes on nobody else’s asset', async () => {
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const plain = await running.client({});
    for (const client of [stranger, plain]) {
      expect(statuses(await bulk(ofAsset(), [record({ foreign: 'yes' })], client))).toEqual([404]);
      const named = [record({ foreign: 'yes' }, { asset_identity: asset })];
      expect(statuses(await bulk(ACROSS, named, client))).toEqual([404]);
    }
    expect(await listed('event_attributes.foreign=yes')).toEqual([]);
  });
});

describe('asset-free events in bulk', () => {
  it('are recorded, and sealed like any other', async () => {
    const answers = await bulk(FREE, [
      { attributes: { foo: 'bar' }, trails: ['cake'], event_type: 'kind' },
      { attributes: { foo: 1 } },
      { attributes: { foo: 'x'.repeat(64 * 1024) } },
    ]);
    expect(statuses(answers)).toEqual([200, 400, 413]);
    expect(answers[0]!.event).toMatchObject({ attributes: { foo: 'bar' }, trails: ['cake'], event_type: 'kind' });
    const path = `/archivist/v1/${answers[0]!.event!.identity}`;
    const sealed = await until(
      () => owner.get(path),
      ({ json }) => json['confirmation_status'] === 'CONFIRMED',
      30_000,
    );
    expect(sealed.json['confirmation_status']).toBe('CONFIRMED');
  });
});

describe('a row that the database refuses', () => {
  it('fails alone, and says so in its place', async () => {
    await running.asOwner(`CREATE FUNCTION archivist.spoil() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'spoilt'; END $$`);
    await running.asOwner(`CREATE TRIGGER spoil BEFORE INSERT ON archivist.asset_event FOR EACH ROW
      WHEN (NEW.event_attributes ->> 'spoilt' = 'yes') EXECUTE FUNCTION archivist.spoil()`);
    const events = Array.from({ length: 21 }, (_, n) => record(n === 5 ? { spoilt: 'yes' } : { spared: 'yes' }));
    const answers = await bulk(ofAsset(), events);
    expect(statuses(answers)).toEqual(events.map((_, n) => (n === 5 ? 500 : 200)));
    expect(answers[5]).toMatchObject({ error: 'internal' });
    expect(await listed('event_attributes.spared=yes')).toHaveLength(20);
  });

  it('fails the request when every event fails so', async () => {
    expect((await owner.post(ofAsset(), { events: [record({ spoilt: 'yes' })] })).status).toBe(500);
  });
});
