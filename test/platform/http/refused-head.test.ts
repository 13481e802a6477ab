import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { refusedHead } from '../../../src/platform/http/refused-head.js';

let server: HttpServer | undefined;
let handled: string[];
afterEach(() => server?.close());

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const answerDone: Handle = (request, response) => {
  request.resume().on('end', () => response.end('done'));
};

/** What a client hears that sends all these bytes before it listens, until the server closes; `isOpen` if it does not. */
async function heard(bytes: string | Uint8Array, handle = answerDone): Promise<{ text: string; isOpen: boolean }> {
  handled = [];
  server = await listen(
    (request, response) => {
      handled.push(request.url!);
      handle(request, response);
    },
    { host: '127.0.0.1', port: 0 },
  );
  const socket = connect(server.port, '127.0.0.1', () => socket.pause().write(bytes, () => socket.resume()));
  let text = '';
  socket.on('error', () => undefined).on('data', (chunk) => (text += chunk));
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.on('close', () => resolve(false));
    setTimeout(() => resolve(true), 20_000).unref();
  });
  socket.destroy();
  return { text, isOpen };
}

const HI = '2\r\nhi\r\n0\r\n\r\n';
const post = (lines: readonly string[], body = HI) =>
  `POST /first HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
const NEXT = 'GET /next HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

/** One answer with the body of our errors, on a connection that it ends. */
const refusal = (status: number, error: string, field: string) =>
  new RegExp(
    `^HTTP/1\\.1 ${status} [^{]*connection: close[^{]*content-type: application/json[^{]*\\{"error":"${error}","description":"${field}[^{]*$`,
    'is',
  );

const REFUSED: [what: string, lines: readonly string[], status: number, error: string, field: string][] = [
  ['an unknown expectation', ['host: a', 'expect: x'], 417, 'expectation_failed', 'Expect: '],
  ['two Host headers', ['host: a', 'Host: b'], 400, 'bad_request', 'Host: '],
  ['the same Host header twice', ['host: a', 'host: a'], 400, 'bad_request', 'Host: '],
  ...['a b', 'a/b', 'a?b', 'user@a', 'http://a', 'a:b', 'a:1:2', '[::1', '::1', 'a%zz', 'ä'].map(
    (value): (typeof REFUSED)[number] => [`the Host ${value}`, [`host: ${value}`], 400, 'bad_request', 'Host: '],
  ),
  ['a coding before chunked', ['host: a', 'transfer-encoding: gzip, chunked'], 501, 'not_implemented', 'Transfer'],
  [
    'codings in two header lines',
    ['host: a', 'transfer-encoding: gzip', 'Transfer-Encoding: chunked'],
    501,
    'not_implemented',
    'Transfer',
  ],
  ['a body without an end', ['host: a', 'transfer-encoding: gzip'], 400, 'bad_request', 'Transfer'],
  ['a coding that only begins like chunked', ['host: a', 'transfer-encoding: chunked;q=1'], 400, 'bad_request', ''],
  ['a coding after chunked', ['host: a', 'transfer-encoding: chunked, gzip'], 400, 'bad_request', ''],
];

describe('the head of a request', () => {
  it.each(REFUSED)(
    'with %s is refused once in our words, and nothing after it is handled',
    async (_, lines, status, error, field) => {
      const { text, isOpen } = await heard(post(lines) + NEXT);
      expect([text, isOpen]).toEqual([expect.stringMatching(refusal(status, error, field)), false]);
      expect(handled).toEqual([]);
    },
  );

  it('is read in a moment, however much white space its expectation has', () => {
    const headers = { host: 'a', expect: `,${' '.repeat(30_000)}x` };
    const head = { headers, rawHeaders: ['Host', 'a'], httpVersion: '1.1' } as unknown as IncomingMessage;
    const times = [1, 2, 3, 4, 5].map(() => {
      const begun = performance.now();
      expect(refusedHead(head)?.code).toBe('expectation_failed');
      return performance.now() - begun;
    });
    // A tenth of a millisecond. Where the time grew with the square of the length, it was a second.
    expect(times.sort((one, other) => one - other)[2]).toBeLessThan(250);
  });

  it('that is refused lets a client see why that first sends a body of 6 MiB', async () => {
    const size = 6 * 1024 * 1024;
    const body = Buffer.concat([
      Buffer.from(`${size.toString(16)}\r\n`),
      Buffer.alloc(size, ' '),
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const head = Buffer.from(post(['host: a', 'transfer-encoding: gzip, chunked'], ''));
    const { text } = await heard(Buffer.concat([head, body]));
    expect(text).toMatch(refusal(501, 'not_implemented', 'Transfer'));
  });

  it.each([
    ['chunks', ['transfer-encoding: chunked']],
    ['chunks in capitals', ['Transfer-Encoding: Chunked']],
    ['an expectation that is known', ['transfer-encoding: chunked', 'expect: 100-Continue']],
    ['an empty expectation', ['transfer-encoding: chunked', 'expect:']],
    ...['', 'a_b.example:80', 'a:', '192.0.2.1:8080', '[2001:db8::1]:443', '[::ffff:192.0.2.1]', 'a%20b'].map(
      (host): [string, string[], string] => [`the Host ${host}`, ['transfer-encoding: chunked'], host],
    ),
  ])('with %s is accepted, and the connection serves the next request', async (_, lines, host = 'a') => {
    const { text } = await heard(post([`host: ${host}`, ...lines]) + NEXT);
    expect(handled).toEqual(['/first', '/next']);
    expect(text.match(/HTTP\/1\.1 200 /g)?.length).toBe(2);
  });
});

describe('bytes that are not HTTP', () => {
  it('cut a response off that has begun, and are not answered in the middle of it', async () => {
    const { text, isOpen } = await heard(
      `${post(['host: a', 'content-length: 0'], '')}nonsense\r\n\r\n`,
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('begun');
      },
    );
    expect([text, isOpen]).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 .*\r\n\r\nbegun$/s), false]);
  });
});

describe('a request with a method that nobody knows', () => {
  const HOST_LINE = '\r\nHost: a.example\r\n\r\n';
  it.each([
    ['is told so', `BREW /pot HTTP/1.1${HOST_LINE}`],
    ['is told so if the method begins like a known one', `GETS /pot HTTP/1.1${HOST_LINE}`],
    ['is told so if the method is in small letters', `get /pot HTTP/1.0${HOST_LINE}`],
    ['is told so after a request that is answered', `GET /first HTTP/1.1${HOST_LINE}BREW /pot HTTP/1.1${HOST_LINE}`],
  ])('%s', async (_, bytes) => {
    const { text, isOpen } = await heard(bytes);
    expect(text).toContain('HTTP/1.1 501 Not Implemented\r\nconnection: close');
    expect(text).toContain('{"error":"not_implemented","description":"The method of the request is unknown');
    expect([handled.filter((url) => url === '/pot'), isOpen]).toEqual([[], false]);
  });

  it.each([
    ['a line that is no request', `BREW coffee${HOST_LINE}`],
    ['a greeting of TLS', Buffer.from('16030100bd010000b90303', 'hex')],
    ['a version that is no HTTP', `BREW /pot COFFEE/1.0${HOST_LINE}`],
  ])('is not %s: that is a 400', async (_, bytes) => {
    const { text } = await heard(bytes);
    expect(text).toContain('HTTP/1.1 400 Bad Request');
    expect(text).toContain('The request is not valid HTTP.');
  });
});
