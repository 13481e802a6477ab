import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, startTestService, type TestService, template, until } from './test-service.js';

let running: TestService;
let owner: Client;
let identity: string;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  identity = await recorded({});
});
afterAll(() => running?.close());

/** A template event on a new asset, with all its proofs made. */
async function recorded(asset: Record<string, unknown>): Promise<string> {
  const made = (await owner.post('/archivist/v2/assets', asset)).json['identity'];
  const event_attributes = template('vcon://0190e3a5-0000-7000-8000-000000000001');
  const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes };
  return proven(`/archivist/v2/${(await owner.post(`/archivist/v2/${made}/events`, body)).json['identity']}`);
}

async function proven(path: string): Promise<string> {
  const ready = await until(
    () => owner.get(`${path}/transparent-statement`),
    ({ status }) => status === 200,
    60_000,
  );
  expect(ready.status).toBe(200);
  return path;
}

const FIXED = ['receipt', 'receipt?form=draft', 'signed-statement', 'transparent-statement'];

describe('a proof that was read before', () => {
  it('is not sent again to who has it', async () => {
    const attributes = template('vcon://0190e3a5-0000-7000-8000-000000000002');
    const free = await owner.post('/archivist/v1/events', { attributes, trails: [], event_type: 'kind' });
    const open = await recorded({ public: true });
    const paths = [
      identity,
      open,
      open.replace('/archivist/v2/', '/archivist/v2/public'),
      await proven(`/archivist/v1/${free.json['identity']}`),
    ];
    for (const path of paths)
      for (const proof of [...FIXED, 'evidence']) {
        const first = await owner.get(`${path}/${proof}`);
        const etag = first.headers.get('etag')!;
        expect(etag, path).toMatch(/^"[\w-]{43}"$/);
        const event = path.split('/').at(-1);
        const name = proof === 'evidence' ? `${event}.zip` : `${proof.split('?')[0]}-${event}.cose`;
        expect(first.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
        const again = await owner.get(`${path}/${proof}`);
        expect(Buffer.from(again.bytes).equals(Buffer.from(first.bytes)), `${path}/${proof}`).toBe(true);
        const known = await owner.get(`${path}/${proof}`, { 'if-none-match': etag });
        expect([known.status, known.bytes.length, known.headers.get('etag')]).toEqual([304, 0, etag]);
        expect((await owner.get(`${path}/${proof}`, { 'if-none-match': '"other"' })).status).toBe(200);
      }
  });

  it('is each event’s and each form’s own', async () => {
    const other = await recorded({});
    const digests = new Set<string>();
    for (const path of [identity, other])
      for (const proof of FIXED) digests.add(String((await owner.get(`${path}/${proof}`)).headers.get('etag')));
    expect(digests.size).toBe(2 * FIXED.length);
    const [, event] = /\/events\/(.*)$/.exec(other)!;
    const [asset] = /^.*\/events\//.exec(identity)!;
    for (const proof of FIXED) expect((await owner.get(`${asset}${event}/${proof}`)).status).toBe(404);
  });

  it('is given only to who may read the event, at each request', async () => {
    const second = await running.client({ roles: ['OWNER'] });
    const others: [Client, number][] = [
      [await running.client({}), 404],
      [await running.client({ otherTenancy: true, roles: ['OWNER'] }), 404],
      [running.anonymous, 401],
    ];
    for (const proof of FIXED) {
      const { headers } = await owner.get(`${identity}/${proof}`);
      expect((await second.get(`${identity}/${proof}`)).status).toBe(200);
      for (const [client, status] of others) {
        expect((await client.get(`${identity}/${proof}`)).status).toBe(status);
        const asked = await client.get(`${identity}/${proof}`, { 'if-none-match': headers.get('etag')! });
        expect(asked.status).toBe(status);
      }
    }
    await running.asOwner(`UPDATE archivist.application SET roles = '{}' WHERE application_id = '${second.clientId}'`);
    for (const proof of FIXED) expect((await second.get(`${identity}/${proof}`)).status).toBe(404);
  });
});
