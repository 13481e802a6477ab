import { decode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeyDocument } from '../../src/core/cose/key-document.js';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { verifyRfc9162Receipt } from '../../src/core/verify/verify-receipt.js';
import { foreignLeaf, foreignMap, foreignReceiptHolds } from '../scitt/foreign-reader.js';
import { ALGORITHMS, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { type Answer, type Client, startTestService, type TestService, until } from './test-service.js';

let running: TestService;
let client: Client;
beforeAll(async () => {
  running = await startTestService({ PLUGIN_PORT: '0' });
  client = await running.client({});
});
afterAll(() => running?.close());

const register = (statement: Uint8Array, headers: Record<string, string> = {}) =>
  sendCose(running.url, client, '/entries', statement, { 'content-type': 'application/cose', ...headers });
const get = (path: string) => sendCose(running.url, running.anonymous, path);
const locationOf = (answer: Answer) => answer.headers.get('location')!;
const problem = ({ headers, bytes }: Answer) => [headers.get('content-type'), foreignMap(bytes).get(-1)];
const CBOR_PROBLEM = 'application/concise-problem-details+cbor';

describe('a statement that is registered', () => {
  it.each(Object.entries(ALGORITHMS))('is answered with a receipt that verifies: %s', async (_name, algorithm) => {
    const statement = sampleStatement(sampleIssuer(algorithm));
    const answer = await register(statement);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([201, 'application/cose']);
    const logKeys = readKeyDocument((await get('/.well-known/scitt-keys')).bytes);
    await verifyRfc9162Receipt(answer.bytes, statementEntry(statement), { logKeys });
    const { keys } = (await running.anonymous.get('/jwks')).json as { keys: [Record<string, unknown>] };
    expect(foreignReceiptHolds(answer.bytes, foreignLeaf(statementEntry(statement)), keys[0])).toBe(true);
    const stored = await get(locationOf(answer));
    expect([stored.status, stored.bytes]).toEqual([200, answer.bytes]);
  });

  it('is kept byte for byte, with what is not signed', async () => {
    const statement = sampleStatement(sampleIssuer(), { unprotected: new Map([['note', 'as it came']]) });
    const answer = await register(statement);
    expect((await get(`${locationOf(answer)}/statement`)).bytes).toEqual(statement);
  });

  it('is the first entry when it is registered again, by whomever, and with whatever is not signed', async () => {
    const issuer = sampleIssuer(ALGORITHMS.EdDSA);
    const first = await register(sampleStatement(issuer));
    const other = await running.client({ otherTenancy: true });
    const body = sampleStatement(issuer, { unprotected: new Map([['note', 'later']]) });
    const again = await sendCose(running.url, other, '/entries', body);
    expect([again.status, locationOf(again), again.bytes]).toEqual([201, locationOf(first), first.bytes]);
    expect((await get(`${locationOf(first)}/statement`)).bytes).toEqual(sampleStatement(issuer));
  });

  it('is one entry when it is registered many times at once', async () => {
    const statement = sampleStatement(sampleIssuer());
    const answers = await Promise.all(Array.from({ length: 12 }, () => register(statement)));
    expect(new Set(answers.map(locationOf)).size).toBe(1);
    expect(new Set(answers.map((each) => each.status))).toEqual(new Set([201]));
  });

  it('is answered at once, with where to ask, for a caller that does not wait', async () => {
    const answer = await register(sampleStatement(sampleIssuer()), { prefer: 'respond-async' });
    expect([answer.status, answer.headers.get('retry-after'), answer.bytes.length]).toEqual([303, '1', 0]);
    const polled: number[] = [];
    const done = await until(
      async () => {
        const each = await get(locationOf(answer));
        polled.push(each.status);
        return each;
      },
      (each) => each.status === 200,
      20_000,
    );
    expect(done.headers.get('location')).toBe(locationOf(answer));
    expect(polled.every((status) => status === 302 || status === 200)).toBe(true);
  });

  it('is found by a client that follows redirects at once, because its location waits for the log', async () => {
    const answer = await fetch(`${running.url}/entries`, {
      method: 'POST',
      body: sampleStatement(sampleIssuer()).slice(),
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/cose', prefer: 'respond-async' },
      redirect: 'follow',
    });
    expect([answer.status, answer.redirected]).toEqual([200, true]);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual((await get(answer.url)).bytes);
  });

  it('is the first entry also while that one is not finished', async () => {
    const statement = sampleStatement(sampleIssuer());
    const asked = await Promise.all(Array.from({ length: 6 }, () => register(statement, { prefer: 'respond-async' })));
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([303]));
    expect(new Set(asked.map(locationOf)).size).toBe(1);
    const final = await register(statement);
    expect([final.status, locationOf(final)]).toEqual([201, locationOf(asked[0]!)]);
  });

  it('says under which policy it was taken, and how its key was found', async () => {
    const answer = await register(sampleStatement(sampleIssuer()));
    const recorded = await running.anonymous.get(`${new URL(locationOf(answer)).pathname}/registration-policy`);
    const current = await running.owner.get('/archivist/v1/scitt/registration_policy');
    expect(recorded.json['policy_sha256']).toBe(current.json['policy_sha256']);
    expect(recorded.json['policy']).toEqual(current.json['policy']);
    expect(recorded.json['key_resolution']).toMatchObject({ method: 'self_asserted' });
  });
});

describe('where registration is found', () => {
  it('is a CBOR map, and the receipt keys lie where it says', async () => {
    const { bytes, headers } = await get('/.well-known/transparency-configuration');
    expect(headers.get('content-type')).toBe('application/cbor');
    const map = decode(bytes) as Record<string, string>;
    expect(map).toMatchObject({ issuer: running.url, jwks_uri: `${running.url}/jwks` });
    const { keys } = (await (await fetch(map['jwks_uri']!)).json()) as { keys: Record<string, unknown>[] };
    expect(keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256' });
  });

  it('is JSON for who accepts nothing else, and CBOR for everybody else', async () => {
    const asked = async (accept: string) => {
      const answer = await fetch(`${running.url}/.well-known/transparency-configuration`, { headers: { accept } });
      return answer.headers.get('content-type');
    };
    expect(await asked('application/json')).toBe('application/json');
    for (const accept of ['*/*', 'application/cbor', 'application/json, application/cbor;q=0.5', 'text/html'])
      expect(await asked(accept)).toBe('application/cbor');
  });

  it('has every key under its own kid', async () => {
    const set = decode((await get('/.well-known/scitt-keys')).bytes, { useMaps: true }) as Map<number, Uint8Array>[];
    for (const key of set) {
      const kid = Buffer.from(key.get(2)!).toString('base64url');
      const { status, bytes } = await get(`/.well-known/scitt-keys/${kid}`);
      expect([status, foreignMap(bytes)]).toEqual([200, key]);
    }
    expect(set.length).toBeGreaterThan(1);
  });
});

describe('a refusal', () => {
  const NOBODY = '0190a8c0-0000-7000-8000-0000000000ff';
  it.each([
    ['/entries/none', 400, 'Invalid locator'],
    [`/entries/${NOBODY}`, 404, 'Operation Not Found'],
    [`/entries/${NOBODY}/statement`, 404, 'Not Found'],
    ['/.well-known/scitt-keys/none', 404, 'No such key'],
    ['/entries', 405, 'Method Not Allowed'],
    ['/entries/%zz', 400, 'Malformed request'],
    ['/entries/a/b/c', 404, 'Not Found'],
  ])('is told as CBOR problem details: GET %s', async (path, status, title) => {
    const answer = await get(path);
    expect([answer.status, ...problem(answer)]).toEqual([status, CBOR_PROBLEM, title]);
  });

  it.each([
    [401, 'Unauthorized', { token: false }],
    [413, 'Payload Too Large', { body: new Uint8Array(70_000) }],
    [415, 'Unsupported Media Type', { type: 'application/json' }],
    [415, 'Unsupported Media Type', { encoding: 'gzip' }],
    [400, 'Malformed request', { body: new Uint8Array(0) }],
  ])('is told as CBOR problem details: POST answered %i %s', async (status, title, how) => {
    const {
      token = true,
      body = sampleStatement(sampleIssuer()),
      type = 'application/cose',
      encoding,
    } = how as {
      token?: boolean;
      body?: Uint8Array;
      type?: string;
      encoding?: string;
    };
    const caller = token ? client : running.anonymous;
    const headers = { 'content-type': type, ...(encoding ? { 'content-encoding': encoding } : {}) };
    const answer = await sendCose(running.url, caller, '/entries', body, headers);
    expect([answer.status, ...problem(answer)]).toEqual([status, CBOR_PROBLEM, title]);
  });

  it.each(['/.well-known/scitt-keys', '/.well-known/transparency-configuration', '/entries'])(
    'is told as CBOR problem details: another method for %s',
    async (path) => {
      const response = await fetch(`${running.url}${path}`, { method: 'DELETE' });
      const map = foreignMap(new Uint8Array(await response.arrayBuffer()));
      expect([response.status, response.headers.get('content-type'), map.get(-1)]).toEqual([
        405,
        CBOR_PROBLEM,
        'Method Not Allowed',
      ]);
    },
  );

  it('tells of too many requests the same way, and when to come again', async () => {
    const limited = await startTestService({ PLUGIN_PORT: '0', RATE_LIMIT: '1' });
    try {
      const ask = () => sendCose(limited.url, limited.owner, '/entries', sampleStatement(sampleIssuer()));
      const answers = await Promise.all([ask(), ask(), ask(), ask()]);
      const refused = answers.find((answer) => answer.status === 429)!;
      expect(problem(refused)).toEqual([CBOR_PROBLEM, 'Too Many Requests']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await limited.close();
    }
  });
});
