import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, startTestService, type TestService, until } from './test-service.js';
import { uploadFile } from './upload-file.js';

const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-00000000000d';
const PRIVATE = 'a private remark';

let running: TestService;
let owner: Client;
let anonymous: Client;
/** UUIDs. */
let open: string;
let other: string;
let events: string[];
let blob: string;

const uuidOf = (answer: Answer) => String(answer.json['identity']).split('/').at(-1)!;
const declared = {
  issuer: 'https://idp.example',
  subject: 'b-ob',
  display_name: 'Bob Private',
  email: 'bob@private.example',
};
const record = (n: string, more: Record<string, unknown> = {}) => ({
  operation: 'Record',
  behaviour: 'RecordEvidence',
  principal_declared: declared,
  event_attributes: { subject: SUBJECT, n, ...more },
});
const query = `event_attributes.subject=${encodeURIComponent(SUBJECT)}`;
const listed = (answer: Answer) => answer.json['events'] as Record<string, unknown>[];
const numbers = (answer: Answer) => listed(answer).map((event) => (event['event_attributes'] as { n: string }).n);

beforeAll(async () => {
  running = await startTestService();
  ({ owner, anonymous } = running);
  const uploaded = await uploadFile(running.url, owner, new TextEncoder().encode('the document'), 'text/plain');
  blob = uuidOf(uploaded);
  const document = {
    arc_attribute_type: 'arc_attachment',
    arc_blob_identity: `blobs/${blob}`,
    arc_blob_hash_alg: 'SHA256',
    arc_blob_hash_value: (uploaded.json['hash'] as { value: string }).value,
    arc_file_name: 'document.txt',
  };
  const create = (attributes: object, isPublic: boolean) =>
    owner.post('/archivist/v2/assets', { attributes, public: isPublic });
  open = uuidOf(await create({ name: 'open', document }, true));
  other = uuidOf(await create({ name: 'other' }, true));
  const hidden = uuidOf(await create({ name: PRIVATE }, false));
  events = [];
  for (const [asset, body] of [
    [open, record('1', { document })],
    [other, record('2')],
    [hidden, record('hidden', { remark: PRIVATE })],
    [open, record('3')],
  ] as const) {
    const answer = await owner.post(`/archivist/v2/assets/${asset}/events`, body);
    expect(answer.status).toBe(200);
    events.push(uuidOf(answer));
  }
});
afterAll(() => running?.close());

describe.each(['/archivist/v2/publicassets', '/archivist/publicassets'])('without a token, under %s', (base) => {
  it('the asset, its events and one event are read', async () => {
    const asset = await anonymous.get(`${base}/${open}`);
    expect(asset.json).toMatchObject({ identity: `publicassets/${open}`, public: true, attributes: { name: 'open' } });
    expect(numbers(await anonymous.get(`${base}/${open}/events?${query}`))).toEqual(['3', '1']);
    const event = await anonymous.get(`${base}/${open}/events/${events[0]}`);
    expect(event.json).toMatchObject({
      identity: `publicassets/${open}/events/${events[0]}`,
      asset_identity: `publicassets/${open}`,
    });
  });

  it('the events of a subject across all public assets come newest first, and none of a private one', async () => {
    const all = await anonymous.get(`${base}/-/events?${query}`, { 'x-request-total-count': 'true' });
    expect([all.status, numbers(all), all.headers.get('x-total-count')]).toEqual([200, ['3', '2', '1'], '3']);
    const first = await anonymous.get(`${base}/-/events?${query}&page_size=2`);
    const token = encodeURIComponent(String(first.json['next_page_token']));
    const second = await anonymous.get(`${base}/-/events?page_token=${token}`);
    expect([numbers(first), numbers(second)]).toEqual([['3', '2'], ['1']]);
  });

  it('nothing that is private is in any answer', async () => {
    const paths = ['', '/events', `/events/${events[0]}`].map((rest) => `${base}/${open}${rest}`);
    for (const path of [...paths, `${base}/-/events`]) {
      const { bytes, status } = await anonymous.get(path);
      const text = new TextDecoder().decode(bytes);
      expect(status).toBe(200);
      for (const secret of [...Object.values(declared), PRIVATE, owner.clientId, 'appidpv1', 'hidden'])
        expect([path, secret, text.includes(secret)]).toEqual([path, secret, false]);
    }
  });

  it('an event of another asset, a private asset and what is not there are a 404', async () => {
    for (const rest of [`${open}/events/${events[1]}`, `${events[0]}`, `${open}/events/${open}`])
      expect([rest, (await anonymous.get(`${base}/${rest}`)).status]).toEqual([rest, 404]);
  });

  it('nothing is written', async () => {
    for (const path of [`${base}/${open}`, `${base}/${open}/events`, `${base}/${open}/events/${events[0]}`])
      expect((await owner.post(path, record('4'))).status).toBe(405);
  });
});

describe('a public answer', () => {
  it('may be kept by any cache and read by any origin, and is not sent again while it is the same', async () => {
    const base = `/archivist/v2/publicassets/${open}`;
    for (const path of [base, `${base}/events`, `${base}/events/${events[0]}`, '/archivist/v2/publicassets/-/events']) {
      const settled = (answer: Answer) => !answer.bytes.toString().includes('STORED');
      await until(() => anonymous.get(path), settled, 20_000);
      const answer = await anonymous.get(path);
      expect(answer.headers.get('cache-control')).toMatch(/^public, /);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      const again = await untilSame(path, String(answer.headers.get('etag')));
      expect([path, again.status, again.bytes.length]).toEqual([path, 304, 0]);
      expect((await anonymous.get(path, { 'if-none-match': 'W/"another"' })).status).toBe(200);
    }
  });

  it('of a settled event may be used for a while, of others only when it is asked for anew', async () => {
    const path = `/archivist/v2/publicassets/${open}/events/${events[0]}`;
    const isConfirmed = (answer: Answer) => answer.json['confirmation_status'] === 'CONFIRMED';
    const confirmed = await until(() => anonymous.get(path), isConfirmed, 20_000);
    expect(confirmed.headers.get('cache-control')).toBe('public, max-age=60');
    const list = await anonymous.get('/archivist/v2/publicassets/-/events');
    expect(list.headers.get('cache-control')).toBe('public, no-cache');
  });

  /** Seals may come between two reads. */
  async function untilSame(path: string, etag: string): Promise<Answer> {
    let known = etag;
    return until(
      async () => {
        const answer = await anonymous.get(path, { 'if-none-match': known });
        known = answer.headers.get('etag') ?? known;
        return answer;
      },
      (answer) => answer.status === 304,
      20_000,
    );
  }
});

describe('attachments of a public asset', () => {
  it('are read without a token, and say nothing of who uploaded them', async () => {
    const base = '/archivist/v2/attachments/publicassets';
    for (const path of [`${base}/${open}/${blob}`, `${base}/${open}/events/${events[0]}/${blob}`]) {
      const file = await anonymous.get(path);
      expect([file.status, new TextDecoder().decode(file.bytes)]).toEqual([200, 'the document']);
      expect(file.headers.get('content-disposition')).toContain('document.txt');
      expect((await anonymous.get(`${path}/info`)).json).toMatchObject({ issuer: '', subject: '', size: 12 });
    }
    expect((await anonymous.get(`${base}/${other}/${blob}`)).status).toBe(404);
    expect((await anonymous.get(`/archivist/v2/attachments/assets/${open}/${blob}`)).status).toBe(401);
  });
});

describe('a public asset', () => {
  it('has public URLs, of itself and of its events, from its creation on', async () => {
    const created = await owner.post('/archivist/v2/assets', { public: true });
    const path = `/archivist/v2/${created.json['identity']}`;
    const event = await owner.post(`${path}/events`, record('5'));
    for (const identity of [created.json['identity'], event.json['identity']]) {
      const { json } = await owner.get(`/archivist/v2/${identity}:publicurl`);
      expect(json).toEqual({ publicurl: `${running.url}/archivist/v2/public${identity}` });
      expect((await anonymous.get(new URL(String(json['publicurl'])).pathname)).status).toBe(200);
    }
  });

  it('has public URLs for its own events; no other asset has any', async () => {
    const { json: secret } = await owner.post('/archivist/v2/assets', {});
    const kept = await owner.post(`/archivist/v2/${secret['identity']}/events`, record('6'));
    const urlOf = async (identity: unknown) => {
      const { status, json } = await owner.get(`/archivist/v2/${identity}:publicurl`);
      return [status, json['description']];
    };
    expect(await urlOf(kept.json['identity'])).toEqual([404, 'Only an event of a public asset has a public URL.']);
    const { json: open } = await owner.post('/archivist/v2/assets', { public: true });
    const elsewhere = String(kept.json['identity']).split('/').at(-1);
    expect(await urlOf(`${open['identity']}/events/${elsewhere}`)).toEqual([404, 'There is no such event.']);
  });

  it('can be read as it was at a time', async () => {
    const created = await owner.post('/archivist/v2/assets', { attributes: { state: 'new' }, public: true });
    const path = `/archivist/v2/public${created.json['identity']}`;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const between = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const change = { ...record('6'), asset_attributes: { state: 'changed' } };
    await owner.post(`/archivist/v2/${created.json['identity']}/events`, change);
    expect((await anonymous.get(path)).json['attributes']).toEqual({ state: 'changed' });
    expect((await anonymous.get(`${path}?at_time=${between}`)).json['attributes']).toEqual({ state: 'new' });
    expect((await anonymous.get(`${path}?at_time=2001-01-01T00:00:00Z`)).status).toBe(404);
    expect((await anonymous.get(`${path}?at_time=then`)).status).toBe(400);
  });

  it('is changed by its own tenancy alone, and never becomes private', async () => {
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const path = `/archivist/v2/assets/${open}`;
    expect((await stranger.post(`${path}/events`, record('7'))).status).toBe(404);
    const change = { ...record('8'), asset_attributes: { public: 'false' }, public: false };
    expect((await owner.post(`${path}/events`, change)).status).toBe(200);
    expect((await owner.get(path)).json['public']).toBe(true);
    expect((await anonymous.get(`/archivist/v2/publicassets/${open}`)).json['public']).toBe(true);
  });

  it('is written as a private one unless its creation says otherwise', async () => {
    const { json } = await owner.post('/archivist/v2/assets', {});
    expect(json['public']).toBe(false);
    expect((await anonymous.get(`/archivist/v2/public${json['identity']}`)).status).toBe(404);
    expect((await owner.get(`/archivist/v2/${json['identity']}:publicurl`)).status).toBe(404);
  });
});
