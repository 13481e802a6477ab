import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import { verifyTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { type Client, startTestService, type TestService, template, until } from './test-service.js';

let running: TestService;
let owner: Client;
let asset: string;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  asset = String((await owner.post('/archivist/v2/assets', { attributes: { subject: 'vcon://a' } })).json['identity']);
});
afterAll(() => running?.close());

const ALL = '/archivist/v2/assets/-/events';
const record = (event_attributes: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  operation: 'Record',
  behaviour: 'RecordEvidence',
  event_attributes,
  ...more,
});
const post = (attributes: Record<string, unknown>, more: Record<string, unknown> = {}, headers = {}) =>
  owner.post(`/archivist/v2/${asset}/events`, record(attributes, more), headers);
const confirmed = (identity: unknown, base = '/archivist/v2') =>
  until(
    () => owner.get(`${base}/${identity}`),
    (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
    30_000,
  );

describe('asset events', () => {
  it('are answered as STORED with every field of the interface and an empty log entry', async () => {
    const { status, json } = await post({ arc_display_type: 'Paint', list: [{ a: 'b' }, 'c'] });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      identity: expect.stringMatching(new RegExp(`^${asset}/events/[0-9a-f-]{36}$`)),
      asset_identity: asset,
      event_attributes: { arc_display_type: 'Paint', list: [{ a: 'b' }, 'c'] },
      asset_attributes: {},
      operation: 'Record',
      behaviour: 'RecordEvidence',
      timestamp_committed: '1970-01-01T00:00:00Z',
      confirmation_status: 'STORED',
      transaction_id: '',
      block_number: 0,
      transaction_index: 0,
      from: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      merklelog_entry: { commit: null, confirm: null, unequivocal: null },
    });
    expect(json['timestamp_declared']).toBe(json['timestamp_accepted']);
    const principal = json['principal_accepted'] as Record<string, string>;
    expect(principal).toMatchObject({ issuer: `${running.url}/appidpv1`, subject: owner.clientId, email: '' });
    expect(json['principal_declared']).toEqual(principal);
  });

  it('become CONFIRMED, with nothing but the log fields changed', async () => {
    const created = await post({ arc_display_type: 'Timed' });
    const { json } = await confirmed(created.json['identity']);
    expect(json['confirmation_status']).toBe('CONFIRMED');
    const frozen = (event: Record<string, unknown>) => {
      const { confirmation_status, merklelog_entry, timestamp_committed, ...rest } = event;
      return rest;
    };
    expect(frozen(json)).toEqual(frozen(created.json));
    expect(json['merklelog_entry']).toEqual({
      commit: { index: expect.stringMatching(/^\d+$/), idtimestamp: expect.stringMatching(/^01[0-9a-f]{16}$/) },
      confirm: {
        mmr_size: expect.stringMatching(/^\d+$/),
        root: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
        timestamp: expect.stringMatching(/^\d{13}$/),
        idtimestamp: '',
        signed_tree_head: '',
      },
      unequivocal: null,
    });
    expect(json['timestamp_committed']).toMatch(/^20\d\d-\d\d-\d\dT.*Z$/);
  });

  it('keep the declared principal and time letter by letter', async () => {
    const declared = { issuer: 'job', subject: 'bob', display_name: 'Bob', email: 'bob@job.example' };
    const { json } = await post({}, { principal_declared: declared, timestamp_declared: '2020-02-03T04:05:06Z' });
    expect(json['principal_declared']).toEqual(declared);
    expect(json['timestamp_declared']).toBe('2020-02-03T04:05:06Z');
  });

  it('are listed newest first with only events and next_page_token, filtered by what they say', async () => {
    const names = ['one', 'two', 'three'];
    for (const name of names) await post({ listed: 'yes', name }, { asset_attributes: { last: name } });
    const { json, headers } = await owner.get(`${ALL}?event_attributes.listed=yes&page_size=2`);
    expect(Object.keys(json).sort()).toEqual(['events', 'next_page_token']);
    expect(headers.get('x-total-count')).toBe('3');
    const named = (list: unknown) =>
      (list as { event_attributes: { name: string } }[]).map((each) => each.event_attributes.name);
    expect(named(json['events'])).toEqual(['three', 'two']);
    const token = encodeURIComponent(String(json['next_page_token']));
    expect(named((await owner.get(`${ALL}?page_token=${token}`)).json['events'])).toEqual(['one']);
    const oldest = await owner.get(`${ALL}?event_attributes.listed=yes&order_by=SIMPLEHASHV1`);
    expect(named(oldest.json['events'])).toEqual(names);
    expect(
      (await owner.get(`${ALL}?event_attributes.listed=yes&asset_attributes.last=two`)).json['events'],
    ).toHaveLength(1);
    expect((await owner.get(`${ALL}?event_attributes.listed=yes&operation=NewAsset`)).json['events']).toEqual([]);
    expect(
      (await owner.get(`${ALL}?event_attributes.listed=yes&timestamp_accepted_since=2099-01-01T00:00:00Z`)).json[
        'events'
      ],
    ).toEqual([]);
    expect(
      (await owner.get(`${ALL}?event_attributes.listed=yes&timestamp_accepted_before=2099-01-01T00:00:00Z`)).json[
        'events'
      ],
    ).toHaveLength(3);
    const known = (await owner.get(`/archivist/v2/${asset}`)).json['attributes'];
    expect(known).toMatchObject({ subject: 'vcon://a', last: 'three' });
  });

  it('are filtered by confirmation status and minimum trust', async () => {
    const { json } = await post({ trust: 'yes' });
    await confirmed(json['identity']);
    const count = async (query: string) =>
      ((await owner.get(`${ALL}?event_attributes.trust=yes&${query}`)).json['events'] as unknown[]).length;
    expect(await count('confirmation_status=CONFIRMED')).toBe(1);
    expect(await count('minimum_trust=COMMITTED')).toBe(1);
    expect(await count('minimum_trust=CONFIRMED')).toBe(1);
    for (const status of ['STORED', 'COMMITTED', 'PENDING', 'FAILED', 'UNEQUIVOCAL']) {
      expect(await count(`confirmation_status=${status}`)).toBe(0);
    }
  });

  it('are found nowhere under another asset', async () => {
    const other = (await owner.post('/archivist/v2/assets', {})).json['identity'];
    const event = String((await post({})).json['identity'])
      .split('/')
      .at(-1);
    expect((await owner.get(`/archivist/v2/${other}/events/${event}`)).status).toBe(404);
  });
});

describe('an Idempotency-Key', () => {
  it('makes a repeated create answer with the first event', async () => {
    const headers = { 'idempotency-key': 'again' };
    const [first, second] = [await post({ n: '1' }, {}, headers), await post({ n: '1' }, {}, headers)];
    expect(second.status).toBe(200);
    expect(second.json['identity']).toBe(first.json['identity']);
  });

  it('is refused with 422 for another body', async () => {
    await post({ n: '1' }, {}, { 'idempotency-key': 'fixed' });
    expect((await post({ n: '2' }, {}, { 'idempotency-key': 'fixed' })).status).toBe(422);
  });

  it('makes one of many racing creates, of events and of assets', async () => {
    const headers = { 'idempotency-key': 'race' };
    const events = await Promise.all(Array.from({ length: 20 }, () => post({ n: 'race' }, {}, headers)));
    expect(new Set(events.map((each) => each.json['identity'])).size).toBe(1);
    expect((await owner.get(`${ALL}?event_attributes.n=race`)).json['events']).toHaveLength(1);
    const assets = await Promise.all(
      Array.from({ length: 20 }, () => owner.post('/archivist/v2/assets', { attributes: { raced: 'yes' } }, headers)),
    );
    expect(new Set(assets.map((each) => each.json['identity'])).size).toBe(1);
    expect((await owner.get('/archivist/v2/assets?attributes.raced=yes')).json['assets']).toHaveLength(1);
  });

  it('in one burst with other bodies makes one event and refuses the others', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'a', 'b'].map((n) => post({ burst: n }, {}, { 'idempotency-key': 'burst' })),
    );
    expect(answers.filter((each) => each.status === 200)).toHaveLength(2);
    expect(answers.filter((each) => each.status === 422)).toHaveLength(2);
  });

  it('belongs to its caller and path', async () => {
    const other = await running.client({ roles: ['OWNER'] });
    const headers = { 'idempotency-key': 'mine' };
    const first = await post({ n: '1' }, {}, headers);
    const second = await other.post(`/archivist/v2/${asset}/events`, record({ n: '2' }), headers);
    expect(second.status).toBe(200);
    expect(second.json['identity']).not.toBe(first.json['identity']);
    expect((await owner.post('/archivist/v1/events', { attributes: {} }, headers)).status).toBe(200);
  });

  it('must be 1 to 255 visible ASCII characters', async () => {
    expect((await post({}, {}, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
    expect((await post({}, {}, { 'idempotency-key': 'a b' })).status).toBe(400);
  });
});

describe('a batch', () => {
  it('keeps a wrong request from failing those beside it', async () => {
    const missing = '01947000-0000-7000-8000-000000000000';
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => post({ mates: String(n) })),
      owner.post(`/archivist/v2/assets/${missing}/events`, record({})),
      ...Array.from({ length: 10 }, (_, n) => post({ mates: String(n) })),
    ]);
    expect(answers.map((each) => each.status).filter((status) => status === 200)).toHaveLength(20);
    expect(answers[10]!.status).toBe(404);
  });
});

describe('a row that the database refuses', () => {
  it('fails alone, not its mates in the batch', async () => {
    await running.asOwner(`CREATE FUNCTION archivist.spoil() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'spoilt'; END $$`);
    await running.asOwner(`CREATE TRIGGER spoil BEFORE INSERT ON archivist.asset_event FOR EACH ROW
      WHEN (NEW.event_attributes ->> 'spoilt' = 'yes') EXECUTE FUNCTION archivist.spoil()`);
    const answers = await Promise.all(
      Array.from({ length: 11 }, (_, n) => post(n === 5 ? { spoilt: 'yes' } : { spared: 'yes' })),
    );
    expect(answers.map((each) => each.status)).toEqual(Array.from({ length: 11 }, (_, n) => (n === 5 ? 500 : 200)));
    expect((await owner.get(`${ALL}?event_attributes.spared=yes`)).json['events']).toHaveLength(10);
    expect((await owner.get(`${ALL}?event_attributes.spoilt=yes`)).json['events']).toEqual([]);
  });
});

describe('a subject too long for an index', () => {
  it('is accepted and found', async () => {
    const subject = Array.from({ length: 400 }, () => Math.random().toString(36).slice(2)).join('');
    expect((await post({ subject })).status).toBe(200);
    const short = subject.slice(0, 3000);
    expect((await post({ subject: short })).status).toBe(200);
    expect((await owner.get(`${ALL}?event_attributes.subject=${short}`)).json['events']).toHaveLength(1);
  });
});

describe('asset-free events', () => {
  it('are created, read, and CONFIRMED', async () => {
    const created = await owner.post('/archivist/v1/events', { attributes: { foo: 'bar' }, trails: ['cake'] });
    expect(created.status).toBe(200);
    expect(created.json).toMatchObject({
      identity: expect.stringMatching(/^events\/[0-9a-f-]{36}$/),
      attributes: { foo: 'bar' },
      trails: ['cake'],
      event_type: '',
      created_by: owner.clientId,
      confirmation_status: 'STORED',
      merklelog_commit: { index: '0', idtimestamp: '' },
    });
    expect(created.json['created_at']).toBeTypeOf('number');
    const { json } = await confirmed(created.json['identity'], '/archivist/v1');
    expect(json['confirmation_status']).toBe('CONFIRMED');
    expect(json['merklelog_commit']).toEqual({
      index: expect.stringMatching(/^\d+$/),
      idtimestamp: expect.stringMatching(/^01[0-9a-f]{16}$/),
    });
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    expect((await stranger.get(`/archivist/v1/${created.json['identity']}`)).status).toBe(404);
  });

  it('are refused beyond 64 KB with 413', async () => {
    const answer = await owner.post('/archivist/v1/events', { attributes: { big: 'x'.repeat(65 * 1024) } });
    expect(answer.status).toBe(413);
  });
});

describe('proofs', () => {
  async function trust() {
    const logKeys = decodeCoseKeySet((await running.anonymous.get('/.well-known/scitt-keys')).bytes);
    const did = await running.anonymous.get('/archivist/v1/didweb/did.json');
    const methods = did.json['verificationMethod'] as { publicKeyJwk: (typeof logKeys)[number] }[];
    return { logKeys, issuerKeys: methods.map((each) => each.publicKeyJwk) };
  }

  async function expectVerified(path: string) {
    const ready = await until(
      () => owner.get(`${path}/transparent-statement`),
      (answer) => answer.status === 200,
      30_000,
    );
    expect(ready.status).toBe(200);
    expect(ready.headers.get('content-type')).toBe('application/cose');
    await verifyTransparentStatement(ready.bytes, await trust());
    const again = await owner.get(`${path}/transparent-statement`);
    expect(Buffer.from(again.bytes).equals(Buffer.from(ready.bytes))).toBe(true);
    return ready.bytes;
  }

  it('of a template event verify offline, and are the same bytes at every request', async () => {
    const { json } = await post(template('vcon://0190e3a5-0000-7000-8000-000000000001'));
    await expectVerified(`/archivist/v2/${json['identity']}`);
    const receipt = await owner.get(`/archivist/v2/${json['identity']}/receipt`);
    expect(receipt.status).toBe(200);
    const draft = await owner.get(`/archivist/v2/${json['identity']}/receipt?form=draft`);
    expect(Buffer.from(draft.bytes).equals(Buffer.from(receipt.bytes))).toBe(false);
    expect((await owner.get(`/archivist/v2/${json['identity']}/signed-statement`)).status).toBe(200);
  });

  it('of an asset-free template event verify as well', async () => {
    const attributes = template('vcon://0190e3a5-0000-7000-8000-000000000002');
    const { json } = await owner.post('/archivist/v1/events', { attributes, trails: ['t'], event_type: 'kind' });
    await expectVerified(`/archivist/v1/${json['identity']}`);
  });

  it('of a public template event verify in both forms, each with its own event', async () => {
    const open = (await owner.post('/archivist/v2/assets', { public: true })).json['identity'];
    const attributes = template('vcon://0190e3a5-0000-7000-8000-000000000003');
    const { json } = await owner.post(`/archivist/v2/${open}/events`, record(attributes));
    const own = await expectVerified(`/archivist/v2/${json['identity']}`);
    const shown = await expectVerified(`/archivist/v2/public${json['identity']}`);
    expect(Buffer.from(own).equals(Buffer.from(shown))).toBe(false);
    expect(Buffer.from(shown).includes(owner.clientId)).toBe(false);
  });

  it('are not there for an event without the template, but for its receipt', async () => {
    const { json } = await post({ plain: 'yes' });
    await confirmed(json['identity']);
    const statement = await owner.get(`/archivist/v2/${json['identity']}/signed-statement`);
    expect(statement.status).toBe(404);
    expect(statement.json['description']).toMatch(/no vCon template/);
    expect((await owner.get(`/archivist/v2/${json['identity']}/receipt`)).status).toBe(200);
  });

  it('are kept from who may not read the event', async () => {
    const { json } = await post(template('vcon://0190e3a5-0000-7000-8000-000000000004'));
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    for (const proof of ['receipt', 'signed-statement', 'transparent-statement']) {
      expect((await stranger.get(`/archivist/v2/${json['identity']}/${proof}`)).status).toBe(404);
      expect((await running.anonymous.get(`/archivist/v2/${json['identity']}/${proof}`)).status).toBe(401);
    }
  });
});

describe('log files', () => {
  it('are served whole and by range, and a missing one says BlobNotFound', async () => {
    const { json } = await post({ filed: 'yes' });
    await confirmed(json['identity']);
    const base = `/verifiabledata/merklelogs/v1/mmrs/${json['tenant_identity']}/0`;
    const whole = await running.anonymous.get(`${base}/massifs/0000000000000000.log`);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-length')).toBe(String(whole.bytes.length));
    expect(whole.headers.get('access-control-allow-origin')).toBe('*');
    const start = await running.anonymous.get(`${base}/massifs/0000000000000000.log`, { range: 'bytes=0-31' });
    expect(start.status).toBe(206);
    expect([...start.bytes]).toEqual([...whole.bytes.subarray(0, 32)]);
    const etag = whole.headers.get('etag')!;
    expect(
      (await running.anonymous.get(`${base}/massifs/0000000000000000.log`, { 'if-none-match': etag })).status,
    ).toBe(304);
    expect((await running.anonymous.get(`${base}/massifseals/0000000000000000.sth`)).status).toBe(200);
    // As the original's guides write the address.
    const doubled = base.replace('/merklelogs', '//merklelogs');
    expect((await running.anonymous.get(`${doubled}/massifs/0000000000000000.log`)).bytes).toEqual(whole.bytes);
    const head = await fetch(`${running.url}${base}/massifs/0000000000000000.log`, { method: 'HEAD' });
    expect([head.status, Number(head.headers.get('content-length'))]).toEqual([200, whole.bytes.length]);
    const missing = await running.anonymous.get(`${base}/massifs/0000000000000001.log`);
    expect([missing.status, missing.headers.get('x-ms-error-code')]).toEqual([404, 'BlobNotFound']);
  });
});
