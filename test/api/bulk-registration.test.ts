import { decode, encode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeyDocument } from '../../src/core/cose/key-document.js';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { verifyRfc9162Receipt } from '../../src/core/verify/verify-receipt.js';
import { foreignMap } from '../scitt/foreign-reader.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { type Answer, type Client, startTestService, type TestService } from './test-service.js';

const PUBLIC = '/entries:bulk';
const PRIVATE = '/archivist/v1/scitt/entries:bulk';
const WAITS = { prefer: 'wait=20' };

interface Result {
  readonly status: number;
  readonly entry?: string;
  readonly receipt?: Uint8Array;
  readonly error?: string;
  readonly title?: string;
  readonly description?: string;
}

let running: TestService;
let client: Client;
beforeAll(async () => {
  running = await startTestService({ PLUGIN_PORT: '0', QUOTAS: 'events=12' });
  client = await running.client({});
});
afterAll(() => running?.close());

const fresh = (count: number) => Array.from({ length: count }, () => sampleStatement(sampleIssuer()));
const send = (path: string, body: Uint8Array, headers: Record<string, string> = {}, by = client) =>
  sendCose(running.url, by, path, body, { 'content-type': 'application/cbor', ...WAITS, ...headers });
const results = ({ bytes }: Answer) => decode(bytes) as Result[];

describe('statements that are registered together', () => {
  it('are each answered as if they had come alone, in their order', async () => {
    const [first, second] = fresh(2);
    const unsigned = sampleStatement(sampleIssuer(), { signedPayload: new Uint8Array([1]) });
    const asked = [first!, unsigned, second!, new Uint8Array([1]), first!, new Uint8Array(65_536)];
    const answer = await send(PUBLIC, encode(asked));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/cbor']);
    const told = results(answer);
    expect(told.map(({ status }) => status)).toEqual([201, 400, 201, 400, 201, 413]);
    expect(told[1]).toMatchObject({ error: 'bad_request', title: 'Rejected' });
    expect(told[3]).toMatchObject({ error: 'bad_request', title: 'Malformed request' });
    expect(told[4]).toEqual(told[0]);
    const logKeys = readKeyDocument((await sendCose(running.url, running.anonymous, '/.well-known/scitt-keys')).bytes);
    for (const place of [0, 2])
      await verifyRfc9162Receipt(told[place]!.receipt!, statementEntry(asked[place]!), { logKeys });
    const stored = await sendCose(running.url, running.anonymous, `/entries/${told[2]!.entry}`);
    expect(stored.bytes).toEqual(told[2]!.receipt);
    const again = results(await send(PUBLIC, encode([second!, first!])));
    expect(again).toEqual([told[2], told[0]]);
    const alone = await sendCose(running.url, client, '/entries', first!);
    expect([alone.status, alone.bytes]).toEqual([201, told[0]!.receipt]);
  });

  it('may come as a sequence, and are then answered as one', async () => {
    const body = Buffer.concat(fresh(2).map((each) => encode(each)));
    const answer = await send(PUBLIC, new Uint8Array(body), { 'content-type': 'application/cbor-seq' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/cbor-seq']);
    const told = decode(new Uint8Array([0x82, ...answer.bytes])) as Result[];
    expect(told.map(({ status }) => status)).toEqual([201, 201]);
  });

  it('are answered at once for a caller that does not wait', async () => {
    const told = results(await send(PUBLIC, encode(fresh(2)), { prefer: 'respond-async' }));
    expect(told.map(({ status, receipt }) => [status, receipt])).toEqual([
      [303, undefined],
      [303, undefined],
    ]);
    const { redirected, status } = await fetch(`${running.url}/entries/${told[0]!.entry}`);
    expect([status, redirected]).toEqual([200, false]);
  });

  it('are private at the private path, and count as many events', async () => {
    const tenant = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const asked = fresh(14);
    const told = results(await send(PRIVATE, encode(asked), {}, tenant));
    expect(told.map(({ status }) => status)).toEqual([...Array(12).fill(201), 402, 402]);
    expect(told.at(-1)!.error).toBe('quota_reached');
    const logKeys = readKeyDocument((await sendCose(running.url, running.anonymous, '/.well-known/scitt-keys')).bytes);
    await verifyRfc9162Receipt(told[0]!.receipt!, statementEntry(asked[0]!), { logKeys });
    const path = `/archivist/v1/scitt/entries/${told[0]!.entry}`;
    expect((await sendCose(running.url, tenant, path)).bytes).toEqual(asked[0]);
    expect((await sendCose(running.url, client, path)).status).toBe(404);
  });
});

describe('a bulk registration', () => {
  it.each<[string, number, Uint8Array, string]>([
    ['is empty', 400, encode([]), 'application/cbor'],
    ['has no body', 400, new Uint8Array(), 'application/cbor'],
    ['has too many', 400, encode(Array(1_001).fill(new Uint8Array([1]))), 'application/cbor'],
    ['has something else in it', 400, encode([new Uint8Array([1]), 'text']), 'application/cbor'],
    ['is cut off', 400, encode([new Uint8Array(100)]).subarray(0, 50), 'application/cbor'],
    ['is of another type', 415, encode([new Uint8Array([1])]), 'application/json'],
    ['is JSON', 415, new TextEncoder().encode('{"statements":[]}'), 'application/json'],
    ['is too long', 413, encode(Array(140).fill(new Uint8Array(65_000))), 'application/cbor'],
  ])('is refused as a whole if it %s', async (_what, status, body, type) => {
    const answer = await send(PUBLIC, body, { 'content-type': type });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      'application/concise-problem-details+cbor',
    ]);
    expect(typeof foreignMap(answer.bytes).get(-2)).toBe('string');
  });

  it('is described, and found through the configuration', async () => {
    const { json } = await running.anonymous.get('/openapi.json');
    const paths = json['paths'] as Record<string, { post: { requestBody: { content: object } } }>;
    for (const path of [PUBLIC, PRIVATE])
      expect(Object.keys(paths[path]!.post.requestBody.content)).toEqual(['application/cbor', 'application/cbor-seq']);
    const { bytes } = await sendCose(running.url, running.anonymous, '/.well-known/transparency-configuration');
    expect(decode(bytes)).toMatchObject({ bulk_registration_endpoint: `${running.url}/entries:bulk` });
  });
});

describe('statements of which none can be stored', () => {
  it('fail the request, so that the caller sends all of them again', async () => {
    const asked = fresh(2);
    await running.asOwner(
      `CREATE FUNCTION archivist.spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'spoilt'; END $$`,
      'CREATE TRIGGER spoil BEFORE INSERT ON archivist.statement FOR EACH ROW EXECUTE FUNCTION archivist.spoil()',
    );
    const failed = await send(PUBLIC, encode(asked));
    await running.asOwner('DROP TRIGGER spoil ON archivist.statement');
    expect(failed.status).toBe(500);
    expect(foreignMap(failed.bytes).get(-1)).toBe('Internal Server Error');
    expect(results(await send(PUBLIC, encode(asked))).map(({ status }) => status)).toEqual([201, 201]);
  });
});
