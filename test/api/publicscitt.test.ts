import { decode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeyDocument } from '../../src/core/cose/key-document.js';
import { publicJwk } from '../../src/core/cose/public-key.js';
import { verifyTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { issuerKeyOfCoseKey } from '../../src/scitt/issuer-key.js';
import { foreignEventLeaf, foreignMmrReceiptHolds } from '../scitt/foreign-reader.js';
import { coseKeyOf, SUBJECT, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { processorMs } from '../support/processor-time.js';
import { sendCose } from './send-cose.js';
import { type Client, startTestService, type TestService } from './test-service.js';

let running: TestService;
let client: Client;
beforeAll(async () => {
  running = await startTestService({ PLUGIN_PORT: '0' });
  client = await running.client({});
});
afterAll(() => running?.close());

type Text = Record<string, string>;

/** As the stock samples register: no content type, and one look at the operation, which is the answer. */
async function registered(door: 'publicscitt' | 'scitt', statement: Uint8Array, by = client) {
  const base = `/archivist/v1/${door}`;
  const post = await sendCose(running.url, by, `${base}/entries`, statement, {});
  const operation = decode(post.bytes) as Text;
  const poll = await sendCose(running.url, by, `${base}/operations/${operation['OperationID']}`);
  const state = decode(poll.bytes) as Text;
  const entry = String(state['EntryID']);
  const identity = entry.replace(/^assets_(.+)_events_(.+)$/, 'assets/$1/events/$2');
  return { base, post, poll, state, entry, identity };
}

describe('a publicly registered statement', () => {
  it('is finished when its operation says so: event, leaf and receipt hold for a client that is not ours', async () => {
    const statement = sampleStatement(sampleIssuer());
    const { base, post, poll, state, entry, identity } = await registered('publicscitt', statement);
    expect([post.status, post.headers.get('content-type'), poll.status]).toEqual([200, 'application/cbor', 200]);
    expect(state['Status']).toBe('succeeded');
    const { json: event } = await running.anonymous.get(`/archivist/v2/public${identity}`);
    expect(event).toMatchObject({
      identity: `public${identity}`,
      confirmation_status: 'CONFIRMED',
      event_attributes: {
        signed_statement: Buffer.from(statement).toString('base64'),
        subject: SUBJECT,
        issuer: 'https://issuer.example',
        vcon_operation: 'vcon_created',
      },
      principal_accepted: { issuer: '', subject: '', display_name: '', email: '' },
    });
    const receipt = await sendCose(running.url, client, `${base}/entries/${entry}/receipt`);
    expect(foreignMmrReceiptHolds(receipt.bytes, foreignEventLeaf(event))).toBe(true);
    const altered = { ...event, operation: 'NewAsset' };
    expect(foreignMmrReceiptHolds(receipt.bytes, foreignEventLeaf(altered))).toBe(false);
    expect((await sendCose(running.url, client, `${base}/entries/${entry}`)).bytes).toEqual(statement);
  });

  it('is found by its subject, newest first', async () => {
    const subject = 'vcon://0190a8c0-0000-7000-8000-0000000f00d5';
    const first = await registered('publicscitt', sampleStatement(sampleIssuer(), { subject }));
    const second = await registered('publicscitt', sampleStatement(sampleIssuer(), { subject, claimsLabel: 13 }));
    const query = `event_attributes.subject=${encodeURIComponent(subject)}&page_size=10`;
    const { json } = await running.anonymous.get(`/archivist/v2/publicassets/-/events?${query}`);
    const found = (json['events'] as { identity: string }[]).map((event) => event.identity);
    expect(found).toEqual([`public${second.identity}`, `public${first.identity}`]);
  });

  it('has a transparent statement that carries the very bytes and is signed by nobody else', async () => {
    const issuer = sampleIssuer();
    const { identity } = await registered('publicscitt', sampleStatement(issuer));
    const { bytes } = await running.anonymous.get(`/archivist/v2/public${identity}/transparent-statement`);
    const logKeys = readKeyDocument((await running.anonymous.get('/.well-known/scitt-keys')).bytes);
    const issuerKeys = [publicJwk({ ...issuerKeyOfCoseKey(coseKeyOf(issuer)).jwk, kid: 'testkey' })];
    await verifyTransparentStatement(bytes, { logKeys, issuerKeys });
    const { bytes: signed } = await running.anonymous.get(`/archivist/v2/public${identity}/signed-statement`);
    expect(signed).toEqual(sampleEntryOf(bytes, signed));
  });

  it('is the same entry by whichever door it comes in', async () => {
    const statement = sampleStatement(sampleIssuer());
    const { identity } = await registered('publicscitt', statement);
    const answer = await sendCose(running.url, client, '/entries', statement);
    expect([answer.status, identity.endsWith(answer.headers.get('location')!.split('/').at(-1)!)]).toEqual([201, true]);
  });

  it('can come as a part of a form, and its operation as JSON to a client that asks for it alone', async () => {
    const entries = `${running.url}/archivist/v1/publicscitt/entries`;
    const send = (statement: Blob | string | undefined, accept: string, parts = 1) => {
      const form = new FormData();
      form.append('other', 'x');
      for (let part = 0; part < parts; part += 1) if (statement !== undefined) form.append('statement', statement);
      const headers = { authorization: `Bearer ${client.token}`, accept };
      return fetch(entries, { method: 'POST', body: form, headers });
    };
    const statement = Buffer.from(sampleStatement(sampleIssuer()));
    const json = await send(new Blob([statement]), 'application/json');
    const { operationID, status } = (await json.json()) as Text;
    expect([json.status, operationID, status]).toEqual([200, expect.stringMatching(/^event_/), 'running']);
    for (const [sent, accept] of [
      [statement.toString('base64'), '*/*'],
      [new Blob([statement]), 'application/json, */*'],
      [statement.toString('base64').replace(/.{76}/g, '$&\r\n'), 'application/cbor, application/json'],
      [new Blob([statement]), 'application/json;q=0, application/cose;q=0.5'],
      [new Blob([statement]), 'application/json; q=0.000 ,text/html'],
    ] as const) {
      const cbor = await send(sent, accept);
      expect([cbor.status, decode(new Uint8Array(await cbor.arrayBuffer()))]).toEqual([
        200,
        { OperationID: operationID, Status: 'running' },
      ]);
    }
    const operation = await client.get(`/archivist/v1/publicscitt/operations/${operationID}`, {
      accept: 'application/json',
    });
    expect(operation.json).toEqual({ operationID, status: 'succeeded', entryID: expect.stringMatching(/^assets_/) });
    for (const odd of ['; '.repeat(15_000), ' ;q=0'.repeat(6_000), ','.repeat(30_000)]) {
      const begun = processorMs();
      const path = `/archivist/v1/publicscitt/operations/${operationID}`;
      expect((await client.get(path, { accept: odd })).status).toBe(200);
      // Where the time grew with the square of the length, it was twice as much and more.
      expect([odd.slice(0, 6), processorMs() - begun < 2_000]).toEqual([odd.slice(0, 6), true]);
    }
    expect((await send(undefined, '*/*')).status).toBe(400);
    const twice = await send(new Blob([statement]), 'application/json', 2);
    expect([twice.status, await twice.text()]).toEqual([400, expect.stringContaining('statement: must be sent once')]);
    expect((await send(new Blob([new Uint8Array(65_536)]), '*/*')).status).toBe(413);
    // Of the largest size in base64, and one more.
    expect((await send(Buffer.alloc(65_535).toString('base64'), '*/*')).status).toBe(400);
    expect((await send(Buffer.alloc(65_536).toString('base64'), '*/*')).status).toBe(413);
  });

  it('can come as the member of a JSON object, and a client that sends JSON reads JSON', async () => {
    const base = '/archivist/v1/publicscitt';
    const statement = Buffer.from(sampleStatement(sampleIssuer())).toString('base64');
    const type = { 'content-type': 'application/json' };
    const post = await client.post(`${base}/entries`, { statement }, { ...type, accept: '*/*' });
    expect(post.json).toEqual({ operationID: expect.stringMatching(/^event_/), status: 'running' });
    const { operationID } = post.json as Text;
    const poll = await client.get(`${base}/operations/${operationID}`, { ...type, accept: '*/*' });
    expect(poll.json).toEqual({ operationID, status: 'succeeded', entryID: expect.stringMatching(/^assets_/) });
    const wrapped = { statement: statement.replace(/.{76}/g, '$&\n'), other: 1 };
    // As curl sends what the original's pages show.
    const form = { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' };
    expect((await client.post(`${base}/entries`, wrapped, form)).json).toEqual(post.json);
    const urlSafe = Buffer.from(statement, 'base64').toString('base64url');
    expect((await client.post(`${base}/entries`, { statement: urlSafe }, form)).json).toEqual(post.json);
    const bare = await client.get(`${base}/operations/${operationID}`, { accept: '*/*' });
    expect(decode(bare.bytes)).toMatchObject({ OperationID: operationID, Status: 'succeeded' });
    for (const body of [
      {},
      { statement: 1 },
      { statement: '' },
      { statement: 'no base64!' },
      { Statement: statement },
    ]) {
      const { status, json } = await client.post(`${base}/entries`, body);
      expect([status, json['description']]).toEqual([400, 'statement: must be the base64 of a signed statement']);
    }
    const torn = await sendCose(running.url, client, `${base}/entries`, Buffer.from(`{"statement":"${statement}`), {});
    expect(torn.status).toBe(400);
  });

  it('is an entry only of its own asset', async () => {
    const { base, entry } = await registered('publicscitt', sampleStatement(sampleIssuer()));
    const statusOf = async (id: string) => {
      const paths = [`${base}/entries/${id}`, `${base}/entries/${id}/receipt`];
      return Promise.all(paths.map(async (path) => (await sendCose(running.url, client, path)).status));
    };
    expect(await statusOf(entry)).toEqual([200, 200]);
    const elsewhere = entry.replace(/^assets_[^_]+/, 'assets_00000000-0000-4000-8000-000000000000');
    expect(await statusOf(elsewhere)).toEqual([404, 404]);
  });

  it('is no event to the public when its id is none', async () => {
    const answer = await running.anonymous.get('/archivist/v2/publicassets/nonsense/events/nonsense');
    expect(answer.status).toBe(404);
    for (const path of ['operations/none', 'entries/none', 'entries/none/receipt'])
      expect((await client.get(`/archivist/v1/publicscitt/${path}`)).status).toBe(404);
  });
});

describe('a privately registered statement', () => {
  it('is an event of the tenancy alone, in the private log', async () => {
    const statement = sampleStatement(sampleIssuer());
    const { base, state, entry, identity } = await registered('scitt', statement);
    expect(state['Status']).toBe('succeeded');
    const { json: event } = await client.get(`/archivist/v2/${identity}`);
    expect(event).toMatchObject({ identity, confirmation_status: 'CONFIRMED' });
    const receipt = await sendCose(running.url, client, `${base}/entries/${entry}/receipt`);
    expect(foreignMmrReceiptHolds(receipt.bytes, foreignEventLeaf(event))).toBe(true);
    expect((await running.anonymous.get(`/archivist/v2/public${identity}`)).status).toBe(404);
    expect((await sendCose(running.url, running.anonymous, `/entries/${identity.split('/').at(-1)}`)).status).toBe(404);
    const stranger = await running.client({ roles: ['OWNER'], otherTenancy: true });
    expect((await sendCose(running.url, stranger, `${base}/entries/${entry}`)).status).toBe(404);
    const other = await running.client({});
    expect((await other.get(`/archivist/v2/${identity}`)).status).toBe(404);
  });

  it('can be followed by each identity that brings it, later or at the same moment, and by no other', async () => {
    const statement = sampleStatement(sampleIssuer());
    const [second, third, other] = [await running.client({}), await running.client({}), await running.client({})];
    const all = await Promise.all([client, second].map((by) => registered('scitt', statement, by)));
    all.push(await registered('scitt', statement, third));
    expect(all.map(({ state }) => state['Status'])).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(new Set(all.map(({ entry }) => entry)).size).toBe(1);
    const [{ base, entry, state }] = all as [(typeof all)[number]];
    const pathsOf = (id: string) => [`entries/${id}`, `entries/${id}/receipt`, `operations/${state['OperationID']}`];
    for (const [reader, status] of [
      [second, 200],
      [third, 200],
      [other, 404],
    ] as const)
      for (const path of pathsOf(entry))
        expect([path, (await sendCose(running.url, reader, `${base}/${path}`)).status]).toEqual([path, status]);
  });
});

/** The statement inside a transparent statement starts with the same protected header, payload and signature. */
function sampleEntryOf(transparent: Uint8Array, signed: Uint8Array): Uint8Array {
  const [header, payload, signature] = [0, 2, 3].map((place) => partsOf(transparent)[place]);
  expect([0, 2, 3].map((place) => partsOf(signed)[place])).toEqual([header, payload, signature]);
  return signed;
}

function partsOf(bytes: Uint8Array): unknown[] {
  return decode(bytes.subarray(1), { useMaps: true }) as unknown[];
}
