import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';

/** What a rude caller sends over a connection of its own, and how the service must end it. */
export interface RudeBehaviour {
  readonly name: string;
  readonly bytes: string | Uint8Array;
  /** Then one byte more every so often, for as long as the connection is open. */
  readonly drips?: boolean;
  /** Then a megabyte more every second, for as long as the connection is open. */
  readonly pours?: boolean;
  /** Ends its side of the connection after the bytes. */
  readonly ends?: boolean;
  /** Reads a byte now and then, and the rest after half a minute. */
  readonly sips?: boolean;
  /** Behaves so on this many connections at once. */
  readonly connections?: number;
  /** Accepted first answers; 0 is a connection that is closed without one. */
  readonly statuses: readonly number[];
  /** The service must close the connection, not the caller. */
  readonly closes?: boolean;
}

const ZIP_BOMB = gzipSync(Buffer.alloc(16 * 1024 * 1024));
const HOST = 'host: archivist.example';
const ASSETS = '/archivist/v2/assets';

function request(line: string, headers: readonly string[] = [], body = ''): string {
  return `${line} HTTP/1.1\r\n${[HOST, ...headers].join('\r\n')}\r\n\r\n${body}`;
}

const many = (count: number, one: (number: number) => string, between = ',') =>
  Array.from({ length: count }, (_, number) => one(number)).join(between);

/** Requests that are refused, or answered, before their bodies arrive; the bodies never do. */
const dripped: readonly RudeBehaviour[] = [
  ['a dripped body without a token', request(`POST ${ASSETS}`, ['content-length: 1000000'], '{'), [401]],
  [
    'dripped chunks without a token',
    request(`POST ${ASSETS}`, ['transfer-encoding: chunked'], '1\r\n{\r\n'),
    [401, 400],
  ],
  [
    'a dripped body with a false token',
    request(`POST ${ASSETS}`, ['authorization: Bearer x', 'content-length: 999999'], '{'),
    [401],
  ],
  ['a dripped body for a path that does not exist', request('POST /nowhere', ['content-length: 1000000'], '{'), [404]],
  ['a dripped body for another method', request('DELETE /healthz', ['content-length: 1000000'], '{'), [405]],
  ['a dripped body behind a GET', request('GET /healthz', ['content-length: 1000000'], '{'), [200]],
  [
    'a dripped body for the token endpoint',
    request('POST /archivist/iam/v1/appidp/token', ['content-length: 60000'], 'g'),
    [400, 0],
  ],
  [
    'a dripped body for the operator',
    request('POST /archivist/operator/v1/tenancies', ['content-length: 90000'], '{'),
    [401],
  ],
  [
    'a dripped compressed body',
    request('POST /archivist/iam/v1/appidp/token', ['content-encoding: gzip', 'content-length: 60000'], 'x'),
    [415],
  ],
  [
    'far too large an announced body',
    request('POST /archivist/iam/v1/appidp/token', ['content-length: 9999999999'], 'x'),
    [413],
  ],
  ['dripped headers', `GET /healthz HTTP/1.1\r\n${HOST}\r\nx-slow: `, [408, 0]],
  ['a dripped request line', 'GET /', [408, 0]],
].map(([name, bytes, statuses]) => ({ name, bytes, statuses, drips: true, closes: true }) as RudeBehaviour);

const TOKEN = '/archivist/iam/v1/appidp/token';
const MASSIF = '/verifiabledata/merklelogs/v1/mmrs/tenant/x/0/massifs/0000000000000000.log';

/** Callers that stop in the middle, hardly read, or never stop. */
const unfinished: readonly RudeBehaviour[] = [
  {
    name: 'six megabytes of a body that is too large, and the rest dripped',
    bytes: request(`POST ${TOKEN}`, ['content-length: 7000000'], ' '.repeat(6_000_000)),
    statuses: [413],
    drips: true,
    closes: true,
  },
  {
    name: 'an endless body that is too large',
    bytes: request(`POST ${TOKEN}`, ['content-length: 9999999999']),
    statuses: [413],
    pours: true,
    closes: true,
  },
  {
    name: 'an endless body without a token',
    bytes: request(`POST ${ASSETS}`, ['content-length: 9999999999']),
    statuses: [401],
    pours: true,
    closes: true,
  },
  {
    name: 'a body that is announced, asked for, and never sent',
    bytes: request(`POST ${TOKEN}`, ['expect: 100-continue', 'content-length: 60000']),
    statuses: [100],
    closes: true,
  },
  {
    name: 'the same without a token',
    bytes: request(`POST ${ASSETS}`, ['expect: 100-continue', 'content-length: 60000']),
    statuses: [100, 401],
    closes: true,
  },
  {
    name: 'a body that is shorter than announced',
    bytes: request(`POST ${TOKEN}`, ['content-length: 60000'], 'grant_type=x'),
    statuses: [400, 0],
    closes: true,
  },
  {
    name: 'a half-closed connection in the middle of a body',
    bytes: request(`POST ${TOKEN}`, ['content-length: 60000'], 'grant_type=x'),
    statuses: [400, 0],
    ends: true,
    closes: true,
  },
  { name: 'a half-closed connection after a request', bytes: request('GET /healthz'), statuses: [200], ends: true },
  { name: 'a half-closed connection without a request', bytes: '', statuses: [0], ends: true, closes: true },
  {
    name: 'a reader of a byte now and then',
    bytes: request('GET /openapi.json').repeat(60),
    statuses: [200],
    sips: true,
    closes: true,
  },
];

/** Requests that are not HTTP, or that stretch it. */
const malformed: readonly RudeBehaviour[] = [
  ['a header of 40 KB', request('GET /healthz', [`x-large: ${'x'.repeat(40_000)}`]), [431]],
  ['3,000 headers', request('GET /healthz', [many(3_000, (each) => `x-${each}: y`, '\r\n')]), [200, 431]],
  ['a path of 31 KB', request(`GET /${'a'.repeat(31_000)}`), [404, 414, 431]],
  [
    'a query of 5,000 parameters',
    request(`GET /archivist/v2/openapi?${many(5_000, (each) => `a${each}=`, '&').slice(0, 30_000)}`),
    [400],
  ],
  ['a chunk size that is no number', request(`POST ${ASSETS}`, ['transfer-encoding: chunked'], 'zz\r\n'), [400, 401]],
  [
    'a chunk extension of 64 KB',
    request(`POST ${ASSETS}`, ['transfer-encoding: chunked'], `1;${'x'.repeat(65_536)}\r\n`),
    [400, 401, 413],
  ],
  [
    'a chunk size beyond 2^64',
    request(`POST ${ASSETS}`, ['transfer-encoding: chunked'], `${'f'.repeat(17)}\r\n`),
    [400, 401],
  ],
  ['a negative content length', request(`POST ${ASSETS}`, ['content-length: -1']), [400]],
  ['two content lengths', request(`POST ${ASSETS}`, ['content-length: 1', 'content-length: 2'], '{}'), [400]],
  [
    'a content length beside chunks',
    request(`POST ${ASSETS}`, ['content-length: 4', 'transfer-encoding: chunked'], '0\r\n\r\n'),
    [400],
  ],
  ['an unknown transfer coding', request(`POST ${ASSETS}`, ['transfer-encoding: gzip'], 'x'), [400]],
  [
    'an unknown transfer coding in chunks',
    request(`POST ${ASSETS}`, ['transfer-encoding: gzip, chunked'], '0\r\n\r\n'),
    [501],
  ],
  ['an unknown method', request('FETCH /healthz'), [501]],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', [400]],
  ['two hosts', request('GET /healthz', ['host: other.example']), [400]],
  ['a NUL in a header', request('GET /healthz', ['x-nul: a\0b']), [400]],
  ['a bare line feed in a header', 'GET /healthz HTTP/1.1\nhost: a\n\n', [200, 400]],
  ['HTTP/0.9', 'GET /healthz\r\n\r\n', [200, 400]],
  ['HTTP/9.9', 'GET /healthz HTTP/9.9\r\nhost: a\r\n\r\n', [400, 505]],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['a body that is longer than announced', request(`POST ${TOKEN}`, ['content-length: 3'], 'a=b&c=d'), [400, 401]],
  [
    '60,000 chunks of one byte',
    request(`POST ${TOKEN}`, ['transfer-encoding: chunked'], `${'1\r\na\r\n'.repeat(60_000)}0\r\n\r\n`),
    [400, 401, 413],
  ],
  [
    '1,000 trailers',
    request(
      `POST ${TOKEN}`,
      ['transfer-encoding: chunked'],
      `0\r\n${many(1_000, (each) => `x-${each}: y`, '\r\n')}\r\n\r\n`,
    ),
    [400, 401, 431],
  ],
  [
    'a compressed body that becomes a thousand times as large',
    Buffer.concat([
      Buffer.from(request(`POST ${TOKEN}`, ['content-encoding: gzip', `content-length: ${ZIP_BOMB.length}`])),
      ZIP_BOMB,
    ]),
    [415],
  ],
  [
    'an upgrade to another protocol',
    request('GET /healthz', ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']),
    [200, 400, 0],
  ],
  ['a tunnel', 'CONNECT archivist.example:443 HTTP/1.1\r\nhost: archivist.example:443\r\n\r\n', [0, 400, 404, 405]],
  ['a trace', request('TRACE /healthz'), [405]],
  ['options of the whole server', request('OPTIONS *'), [200, 204, 400, 404]],
  ['a request for another server', request('GET http://elsewhere.example/healthz'), [200, 400, 404]],
  ['a cookie of 30 KB', request('GET /healthz', [`cookie: a=${'x'.repeat(30_000)}`]), [200, 431]],
  ['a token of 30 KB', request(`GET ${ASSETS}`, [`authorization: Bearer ${'x.'.repeat(15_000)}`]), [401, 431]],
  ['an escaped path of 30 KB', request(`GET /${'%61'.repeat(10_000)}`), [404, 414, 431]],
  ['60 pipelined ranges', request(`GET ${MASSIF}`, ['range: bytes=0-0']).repeat(60), [404]],
  ['a TLS hello', Buffer.from('160301020001000201030300', 'hex'), [400]],
  ['64 KB of zeros', new Uint8Array(65_536), [400]],
  ['an unknown expectation', request('GET /healthz', ['expect: the-spanish-inquisition']), [417]],
  ['a path that does not decode', request('GET /archivist/v2/assets/%ff%zz'), [400, 401, 404]],
  ['a flood of pipelined requests', request('GET /healthz').repeat(2_000), [200, 0]],
  [
    'a flood of ranges',
    request(`GET ${MASSIF}`, [`range: bytes=${many(3_000, (each) => `${each}-${each}`).slice(0, 30_000)}`]),
    [400, 404, 416],
  ],
  [
    'a flood of entity tags',
    request('GET /openapi.json', [`if-none-match: ${many(3_000, (each) => `"${each}"`).slice(0, 30_000)}`]),
    [200],
  ],
].map(([name, bytes, statuses]) => ({ name, bytes, statuses }) as RudeBehaviour);

/** Bodies of legal size from a caller with a token. */
function costly(token: string): readonly RudeBehaviour[] {
  const bearer = `authorization: Bearer ${token}`;
  const post = (path: string, body: string, more: readonly string[] = []) =>
    request(`POST ${path}`, [bearer, `content-length: ${Buffer.byteLength(body)}`, ...more], body);
  const asset = (body: string) => post(ASSETS, body);
  const form = (body: string) => post('/archivist/v1/blobs', body, ['content-type: multipart/form-data; boundary=b']);
  const rows: readonly (readonly [name: string, bytes: string, statuses: readonly number[]])[] = [
    ['100,000 nested lists', asset(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), [400]],
    ['100,000 nested objects', asset(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), [400]],
    ['75,000 names', asset(`{"attributes":{${many(75_000, (each) => `"k${each}":""`)}}}`), [400]],
    ['500,000 numbers', asset(`{"attributes":{"a":[${many(500_000, () => '1')}]}}`), [400]],
    ['300,000 empty objects', asset(`{"attributes":{"a":[${many(300_000, () => '{}')}]}}`), [400]],
    ['a number of a million digits', asset(`{"attributes":{"a":${'9'.repeat(1_000_000)}}}`), [400]],
    ['a million backslashes', asset(`{"attributes":{"a":"${'\\'.repeat(1_000_000)}"}}`), [200, 400]],
    ['a name of a megabyte', asset(`{"attributes":{"${'n'.repeat(1_000_000)}":""}}`), [400]],
    ['a million commas', asset(','.repeat(1_000_000)), [400]],
    ['an unfinished string of a megabyte', asset(`{"${'x'.repeat(1_000_000)}`), [400]],
    ['a member named __proto__', asset('{"__proto__":{"admin":true}}'), [400]],
    [
      '8 MiB of small values in bulk',
      post(
        '/archivist/v1/events:bulk',
        `{"events":[${many(1_000, () => `{"attributes":{${many(700, (each) => `"k${each}":""`)}}}`)}]}`,
      ),
      [400],
    ],
    ['2,000 events in bulk', post('/archivist/v1/events:bulk', `{"events":[${many(2_000, () => '{}')}]}`), [400]],
    [
      'a filter that looks like a costly pattern',
      request(`GET ${ASSETS}?attributes.arc_display_type=${'(a%2B)%2B'.repeat(2_000)}$`, [bearer]),
      [200, 400],
    ],
    [
      'a filter of wildcards',
      request(`GET ${ASSETS}?attributes.arc_display_type=${'%25_*'.repeat(4_000)}`, [bearer]),
      [200, 400],
    ],
    [
      'a form of 5,000 parts',
      form(`${many(5_000, () => '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\ny', '\r\n')}\r\n--b--\r\n`),
      [400],
    ],
    [
      'a form without an end',
      form('--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nhalf'),
      [400],
    ],
  ];
  return [
    ...rows.map(([name, bytes, statuses]) => ({ name, bytes, statuses })),
    {
      name: '40 streams of events at once',
      bytes: request('GET /archivist/v1/events/stream', [bearer]),
      statuses: [200, 429],
      connections: 40,
    },
    {
      name: 'a megabyte of line feeds on 10 connections',
      bytes: asset(`{"attributes":{"a":"${'\\n'.repeat(500_000)}"}}`),
      statuses: [200],
      connections: 10,
    },
  ];
}

/** Every rude behaviour, for a service that knows this token. */
export function rudeBehaviours(token: string): readonly RudeBehaviour[] {
  return [...dripped, ...unfinished, ...malformed, ...costly(token)];
}
