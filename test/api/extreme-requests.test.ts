import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf, LATEST_MS } from './answer-fault.js';
import { rawRequest } from './raw-request.js';
import { startTestService, type TestService } from './test-service.js';

let running: TestService;
let asset: string;
beforeAll(async () => {
  running = await startTestService();
  const { json } = await running.owner.post('/archivist/v2/assets', { attributes: { a: 'b' } });
  asset = String(json['identity']);
});
afterAll(() => running?.close());

/** Requests whose framing or target is at fault, each with the token and a host in the place of `HEAD`. */
const FRAMES: [name: string, text: string][] = [
  ['a line that is no request', 'hello\r\n\r\n'],
  ['the greeting of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'.padEnd(300, '\u0000')],
  ['another version', 'GET /archivist/v2/assets HTTP/9.9\r\nHEAD\r\n\r\n'],
  ['headers without an end', `GET /archivist/v2/assets HTTP/1.1\r\nHEAD\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`],
  ['no host', 'GET /archivist/v2/assets HTTP/1.1\r\n\r\n'],
  ['two lengths', 'POST /archivist/v2/assets HTTP/1.1\r\nHEAD\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} '],
  [
    'a length and chunks',
    'POST /archivist/v2/assets HTTP/1.1\r\nHEAD\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a negative length', 'POST /archivist/v2/assets HTTP/1.1\r\nHEAD\r\ncontent-length: -1\r\n\r\n'],
  [
    'chunks that are none',
    'POST /archivist/v2/assets HTTP/1.1\r\nHEAD\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n',
  ],
  [
    'chunks that are none, for an upload',
    'POST /archivist/v1/blobs HTTP/1.1\r\nHEAD\r\ncontent-type: multipart/form-data; boundary=x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n',
  ],
  [
    'an encoding of the transfer',
    'POST /archivist/v2/assets HTTP/1.1\r\nHEAD\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  ],
  ['the target *', 'OPTIONS * HTTP/1.1\r\nHEAD\r\n\r\n'],
  ['a target without a path', 'GET ? HTTP/1.1\r\nHEAD\r\n\r\n'],
  ['a target of another host', 'GET http://elsewhere:99999/archivist/v2/nothing HTTP/1.1\r\nHEAD\r\n\r\n'],
  ['a target with a second host', 'GET //[::1/archivist/v2/assets HTTP/1.1\r\nHEAD\r\n\r\n'],
  ['a very long target', `GET /archivist/v2/${'a/'.repeat(15_000)} HTTP/1.1\r\nHEAD\r\n\r\n`],
  ['very many parameters', `GET /archivist/v2/assets?${'a=1&'.repeat(7000)} HTTP/1.1\r\nHEAD\r\n\r\n`],
];

describe('what is hardly HTTP', () => {
  it.each(FRAMES)('is refused in our words: %s', async (_name, text) => {
    const head = `host: localhost\r\nconnection: close\r\nauthorization: Bearer ${running.owner.token}`;
    const answer = await rawRequest(running.url, Buffer.from(text.replace('HEAD', head), 'latin1'), LATEST_MS);
    expect([faultOf(answer), answer.body]).toEqual([undefined, expect.any(String)]);
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
});

const many = (count: number, make: (place: number) => string) =>
  Array.from({ length: count }, (_, place) => make(place));
const LARGE: [name: string, path: string, body: () => string][] = [
  ['very many attributes', '/archivist/v2/assets', () => `{"attributes":{${many(60_000, (n) => `"k${n}":"v"`)}}}`],
  [
    'very many attributes of one name',
    '/archivist/v2/assets',
    () => `{"attributes":{${many(90_000, () => '"k":"v"')}}}`,
  ],
  ['a list of very many lists', '/archivist/v2/assets', () => `{"attributes":{"a":[${many(200_000, () => '[]')}]}}`],
  ['one very long attribute', '/archivist/v2/assets', () => `{"attributes":{"a":"${'\\u00e9'.repeat(150_000)}"}}`],
  ['very many trails', '/archivist/v1/events', () => `{"attributes":{},"trails":[${many(8000, (n) => `"t${n}"`)}]}`],
  [
    'a deep filter',
    '/archivist/v1/events/search',
    () => `{"filter":"${'not('.repeat(1500)}event_type eq 'a'${')'.repeat(1500)}"}`,
  ],
  [
    'a wide filter',
    '/archivist/v1/events/search',
    () => `{"filter":"${many(350, (n) => `event_type eq 'a${n}'`).join(' or ')}"}`,
  ],
  ['a filter of quotes', '/archivist/v1/events/search', () => `{"filter":"event_type eq '${"''".repeat(4000)}'"}`],
  [
    'a policy of very many filters',
    '/archivist/v1/compliance_policies',
    () =>
      JSON.stringify({
        compliance_type: 'COMPLIANCE_RICHNESS',
        display_name: 'p',
        asset_filter: many(60, () => '').map(() => ({ or: many(100, (n) => `attributes.a${n}=b${n}`) })),
        richness_assertions: many(60, () => '').map(() => ({ or: many(100, (n) => `a${n}>=${n}`) })),
      }),
  ],
];

describe('what is large', () => {
  it.each(LARGE)('is answered in time, and what it leaves behind is listed in time: %s', async (_name, path, body) => {
    const requests = [
      `POST ${path}`,
      'GET /archivist/v2/assets?attributes.a=*&page_size=100',
      'GET /archivist/v2/assets/-/events?page_size=100',
      `GET /archivist/v1/compliance/${asset}`,
    ];
    for (const request of requests) {
      const sent = request.startsWith('POST') ? body() : '';
      const head = `${request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ${running.owner.token}`;
      const bytes = Buffer.from(`${head}\r\ncontent-length: ${Buffer.byteLength(sent)}\r\n\r\n${sent}`);
      const answer = await rawRequest(running.url, bytes, LATEST_MS);
      expect([request, faultOf(answer)]).toEqual([request, undefined]);
    }
  });
});

it('answers an address with slashes in a row, or with an encoded colon before a verb, like the usual spelling', async () => {
  const { json: made } = await running.owner.post('/archivist/v2/assets', { attributes: {} });
  const identity = String(made['identity']);
  for (const path of [`//archivist/v2/${identity}`, `/archivist//v2///${identity}?page_size=5`])
    expect((await running.owner.get(path)).json['identity']).toBe(identity);
  const tenancy = String(made['tenant_identity']).replace('tenant/', 'tenancies/');
  const info = await running.anonymous.get(`/archivist/v1/${tenancy}%3apublicinfo`);
  expect([info.status, info.json['identity']]).toEqual([200, tenancy]);
  const query = await running.owner.get('/archivist/v2/assets?attributes.place=a//b%3Ac');
  expect([query.status, query.json['assets']]).toEqual([200, []]);
});
