import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ClockWrong } from '../../../src/platform/clock-watch.js';
import { ApiError, retryLater } from '../../../src/platform/errors.js';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { mountRoutes } from '../../../src/platform/http/mount-routes.js';
import type { Principal } from '../../../src/platform/http/principal.js';
import { type Route, route } from '../../../src/platform/http/route.js';
import { pythonPath } from '../../support/prerequisites.js';

const CALLER: Principal = {
  tenantId: 't',
  issuer: 'i',
  subject: 's',
  displayName: 'd',
  email: '',
  roles: [],
  claims: {},
};

const shared = { summary: '', success: 200, codes: [] } as const;

function testRoutes(): Route[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path: '/things/:id',
      operationId: 'Get',
      access: 'token',
      params: z.object({ id: z.string().regex(/^\d+$/, 'must be a number') }),
      query: z.object({ q: z.string().optional() }),
      handle: async ({ params, query, principal }) => ({ body: { id: params.id, q: query.q, by: principal.subject } }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: '/things/:id\\:special',
      operationId: 'Special',
      access: 'public',
      params: z.object({ id: z.string() }),
      handle: async ({ params }) => ({ body: { special: params.id }, headers: { 'x-own': 'yes' } }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/things',
      operationId: 'Create',
      access: 'public',
      bodyLimit: 1000,
      success: 201,
      body: z.object({ name: z.string(), tree: z.unknown().optional() }),
      handle: async ({ body, rawBody }) => ({ body: { name: body.name, bytes: rawBody.length } }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/own',
      operationId: 'CreateOwn',
      access: 'token',
      body: z.object({ name: z.string() }),
      handle: async ({ body, principal }) => ({ body: { name: body.name, roles: principal.roles } }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/raw',
      operationId: 'Raw',
      access: 'public',
      rawBody: true,
      handle: async ({ rawBody }) => ({ bytes: rawBody, contentType: 'application/cose' }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: '/fails/:how',
      operationId: 'Fails',
      access: 'public',
      params: z.object({ how: z.string() }),
      handle: async ({ params }) => {
        throw FAILURES[params.how];
      },
    }),
  ];
}

const withCode = (code: string) => Object.assign(new Error('secret detail'), { code });
const FAILURES: Readonly<Record<string, unknown>> = {
  conflict: new ApiError('conflict', 'It is taken.'),
  later: retryLater('rate_limited', 'Slowly.', 2.2),
  bug: new TypeError('secret detail'),
  down: withCode('ECONNREFUSED'),
  slow: withCode('57014'),
  locked: withCode('55P03'),
  unread: withCode('58030'),
  value: withCode('22021'),
  nothing: undefined,
};

let server: HttpServer;
/** A clock of the pipeline, in seconds. */
let seconds = 0;
let clockFault: ClockWrong | undefined;
/** Whom a token names now. */
const named = new Map<string, Principal>();
let identified = 0;
const errors: string[] = [];
const answers: [string, number][] = [];

beforeEach(() => {
  clockFault = undefined;
  named.clear();
  named.set('Bearer good', CALLER);
});
beforeAll(async () => {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  mountRoutes(app, testRoutes(), {
    authenticateOperator: () => {
      throw new ApiError('unauthorized', 'Not the operator.');
    },
    authenticate: async ({ headers: { authorization } }) => {
      identified += 1;
      const caller = named.get(`${authorization}`);
      if (!caller) throw new ApiError('unauthorized', 'No.');
      return caller;
    },
    logger: pino({ level: 'error' }, { write: (line: string) => errors.push(line) }),
    answered: (operation, status) => answers.push([operation, status]),
    corsOrigins: [],
    seconds: () => seconds,
    requireRightTime: () => {
      if (clockFault) throw clockFault;
    },
    requireRoom: () => undefined,
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/things') =>
  fetch(server.url + path, { method: 'POST', body, headers });

async function refused(response: Response, status: number, error: string): Promise<string> {
  const body = (await response.json()) as { error: string; description: string };
  expect([response.status, body.error]).toEqual([status, error]);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(Object.keys(body)).toEqual(['error', 'description']);
  return body.description;
}

const TOO_MUCH = Buffer.alloc(6 * 1024 * 1024, ' ');

/** What a client hears that reads nothing until it has sent its body. @throws what the connection fails with meanwhile */
function sentThenHeard(path: string, length: string, body: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1').pause();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      socket.end();
    });
    socket.pause();
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${length}\r\n\r\n`);
    socket.write(body, () => socket.resume());
  });
}

/** What a client hears that sends these very bytes. */
function heard(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('a body that takes more than a second to arrive', () => {
  const HEAD = 'POST /own HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer good\r\n';

  /** The answer if this happens before the body is complete. */
  async function answerAfter(meanwhile: () => void): Promise<string> {
    const before = identified;
    const socket = connect(server.port, '127.0.0.1');
    const answer = text(socket);
    socket.write(`${HEAD}content-length: 12\r\n\r\n{"name"`);
    await expect.poll(() => identified).toBe(before + 1);
    seconds += 1;
    meanwhile();
    socket.write(':"a"}');
    return answer;
  }

  it('is refused if its caller has lost the token meanwhile', async () => {
    expect(await answerAfter(() => named.clear())).toMatch(/^HTTP\/1\.1 401 .*"error":"unauthorized"/s);
  });

  it('is refused if the clock is wrong by then', async () => {
    const answer = await answerAfter(() => {
      clockFault = new ClockWrong('the clock was set');
    });
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*"error":"unavailable"/s);
  });

  it('is of the caller with the roles of the moment in which it is complete', async () => {
    const answer = await answerAfter(() => named.set('Bearer good', { ...CALLER, roles: ['another'] }));
    expect(answer).toContain('{"name":"a","roles":["another"]}');
  });
});

describe('the target of a request', () => {
  const answerTo = (target: string) => heard(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);

  it.each(['http://[::1', 'http://', 'http:', 'ftp://a/things/7:special'])(
    '%s is refused with the error body',
    async (target) => {
      const answer = await answerTo(target);
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*content-type: application\/json.*"error":"bad_request"/is);
    },
  );

  it('may be a whole URL', async () => {
    expect(await answerTo('HTTP://elsewhere.example/things/7:special?q=x')).toContain('{"special":"7"}');
  });
});

describe('a request without a Host header', () => {
  const answerTo = (version: string) => heard(`GET /things/7:special HTTP/${version}\r\n\r\n`);

  it('is refused with the error body and ends its connection, as HTTP/1.1 requires one', async () => {
    expect(await answerTo('1.1')).toMatch(/^HTTP\/1\.1 400 .*content-type: application\/json.*"error":"bad_request"/is);
  });

  it('is answered in HTTP/1.0, which requires none', async () => {
    expect(await answerTo('1.0')).toContain('{"special":"7"}');
  });
});

describe('the request pipeline', () => {
  it('hands a handler what its schemas have passed, and answers with its status', async () => {
    const got = await fetch(`${server.url}/things/7?q=x`, { headers: { authorization: 'Bearer good' } });
    expect([got.status, await got.json()]).toEqual([200, { id: '7', q: 'x', by: 's' }]);
    const made = await post('{"name":"ä"}');
    expect([made.status, await made.json()]).toEqual([201, { name: 'ä', bytes: 13 }]);
    expect(made.headers.get('x-powered-by')).toBeNull();
  });

  it('gives a path with a colon to its own route, though a parameter would swallow it', async () => {
    const got = await fetch(`${server.url}/things/7:special`);
    expect([await got.json(), got.headers.get('x-own')]).toEqual([{ special: '7' }, 'yes']);
    const wrong = await fetch(`${server.url}/things/7:special`, { method: 'DELETE' });
    await refused(wrong, 405, 'method_not_allowed');
  });

  it('says of a parameter of the query that is sent twice that it must be given once', async () => {
    const got = await fetch(`${server.url}/things/7?q=x&q=x`, { headers: { authorization: 'Bearer good' } });
    expect(await refused(got, 400, 'bad_request')).toBe('q: must be given once');
  });

  it('reads JSON whatever the content type says', async () => {
    expect((await post('{"name":"x"}', { 'content-type': 'text/plain' })).status).toBe(201);
    expect((await post('{"name":"x"}', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(201);
    expect((await post('\ufeff{"name":"x"}')).status).toBe(201);
  });

  it('leaves a raw body alone', async () => {
    const got = await post(new Uint8Array([0, 255, 123]), {}, '/raw');
    expect([got.headers.get('content-type'), [...new Uint8Array(await got.arrayBuffer())]]).toEqual([
      'application/cose',
      [0, 255, 123],
    ]);
  });

  it.each([
    ['nothing', '', 'body: is missing'],
    ['no JSON', '{"name":', 'body: is not JSON'],
    ['trailing bytes', '{"name":"x"} x', 'body: is not JSON'],
    ['another shape', '[]', 'body: '],
    ['a wrong member', '{"name":1}', 'name: '],
    ['deep lists', `{"name":"x","tree":${'['.repeat(300)}${']'.repeat(300)}}`, 'body: is nested deeper than 64 levels'],
    [
      'deep objects',
      `{"name":"x","tree":${'{"a":'.repeat(90)}1${'}'.repeat(90)}}`,
      'body: is nested deeper than 64 levels',
    ],
    ['unclosed brackets', '['.repeat(900), 'body: is nested'],
    ['a prototype', '{"name":"x","__proto__":{"a":1}}', 'body: must not have a member named __proto__'],
    ['a deep prototype', '{"name":"x","tree":[{"__proto__":null}]}', 'body: must not have a member named __proto__'],
    [
      'a prototype in escapes',
      '{"name":"x","tree":{"\\u005f_proto__":{}}}',
      'body: must not have a member named __proto__',
    ],
  ])('answers a body of %s with a 400 that says so', async (_what, body, description) => {
    expect(await refused(await post(body), 400, 'bad_request')).toContain(description);
  });

  it('does not take brackets within strings for nesting', async () => {
    expect((await post(JSON.stringify({ name: '[{"\\'.repeat(100) }))).status).toBe(201);
  });

  it('answers a body that is not UTF-8 with a 400', async () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"name":"'), 0xff, 0x22, 0x7d]);
    expect(await refused(await post(body), 400, 'bad_request')).toBe('body: is not UTF-8');
  });

  it('takes a body without an encoding that says so, in either case', async () => {
    for (const encoding of ['identity', 'Identity'])
      expect((await post(JSON.stringify({ name: 'x' }), { 'content-encoding': encoding })).status).toBe(201);
  });

  it('answers a compressed body with 415', async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'x'])
      await refused(
        await post(gzipSync('{"name":"x"}'), { 'content-encoding': encoding }),
        415,
        'unsupported_media_type',
      );
  });

  it('answers a body over the limit with 413, to clients that tell its length and to those that do not', async () => {
    expect((await post(JSON.stringify({ name: 'x'.repeat(989) }))).status).toBe(201);
    await refused(await post(JSON.stringify({ name: 'x'.repeat(990) })), 413, 'payload_too_large');
    await refused(await post(JSON.stringify({ name: 'x'.repeat(3_000_000) })), 413, 'payload_too_large');
    const stream = new Blob([JSON.stringify({ name: 'x'.repeat(100_000) })]).stream();
    const chunked = await fetch(`${server.url}/things`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
    } as RequestInit);
    await refused(chunked, 413, 'payload_too_large');
  });

  it('lets a client that reads no answer before it has sent everything see a refusal of 6 MiB', async () => {
    const limited = await sentThenHeard('/things', `content-length: ${TOO_MUCH.length}`, TOO_MUCH);
    expect(limited).toMatch(/^HTTP\/1\.1 413 .*connection: close.*payload_too_large/is);
    const chunk = Buffer.concat([Buffer.from(`${TOO_MUCH.length.toString(16)}\r\n`), TOO_MUCH, Buffer.from('\r\n')]);
    const chunked = await sentThenHeard('/things', 'transfer-encoding: chunked', chunk);
    expect(chunked).toMatch(/^HTTP\/1\.1 413 .*connection: close.*payload_too_large/is);
    const nowhere = await sentThenHeard('/nowhere', `content-length: ${TOO_MUCH.length}`, TOO_MUCH);
    expect(nowhere).toMatch(/^HTTP\/1\.1 404 /);
  });

  it.skipIf(!pythonPath)('lets Python see a refusal of 6 MiB', async () => {
    const script = `
import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1], b' ' * ${TOO_MUCH.length})
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())`;
    const { stdout } = await promisify(execFile)(pythonPath!, ['-c', script, `${server.url}/things`]);
    expect(stdout).toMatch(/^413 .*payload_too_large/);
  });

  it('does not read on when far too much is announced', async () => {
    const answer = await heard('POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n{');
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toMatch(/connection: close/i);
  });

  it('answers an unknown path with 404 and another method with 405 and Allow', async () => {
    await refused(await fetch(`${server.url}/nowhere`), 404, 'not_found');
    const wrong = await fetch(`${server.url}/things`, { method: 'PUT', body: '{}' });
    await refused(wrong, 405, 'method_not_allowed');
    expect(wrong.headers.get('allow')).toBe('POST, OPTIONS');
  });

  it('answers HEAD like GET without the body, and OPTIONS with what there is', async () => {
    const head = await fetch(`${server.url}/things/7:special`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '15', '']);
    const options = await fetch(`${server.url}/things/7:special`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), options.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'GET, HEAD, OPTIONS',
      '*',
    ]);
    const closed = await fetch(`${server.url}/things/7`, { method: 'OPTIONS' });
    expect([closed.status, closed.headers.get('access-control-allow-origin')]).toEqual([204, null]);
  });

  it('asks for a token before it looks at anything else', async () => {
    const anonymous = await fetch(`${server.url}/things/x?q=1&q=2`);
    await refused(anonymous, 401, 'unauthorized');
    expect(anonymous.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('names the parameter that is wrong', async () => {
    const headers = { authorization: 'Bearer good' };
    const path = await fetch(`${server.url}/things/x`, { headers });
    expect(await refused(path, 404, 'not_found')).toBe('id: must be a number');
    const query = await fetch(`${server.url}/things/1?q=1&q=2`, { headers });
    expect(await refused(query, 400, 'bad_request')).toMatch(/^q: /);
  });

  it('says how a path, a query and a head must be that it cannot read', async () => {
    const headers = { authorization: 'Bearer good' };
    const encoding = 'its percent-encoding must be UTF-8';
    expect(await refused(await fetch(`${server.url}/things/%ff`), 400, 'bad_request')).toContain(encoding);
    for (const text of ['%FC', '%C3', '%C3x%BC'])
      expect(await refused(await fetch(`${server.url}/things/1?q=${text}`, { headers }), 400, 'bad_request')).toBe(
        `query: ${encoding}`,
      );
    expect((await fetch(`${server.url}/things/1?q=100%-%C3%BC`, { headers })).status).toBe(200);
    expect(await heard('GET /things/1?q=é HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*percent-encoded/s);
    expect(await heard(`GET /?${'x'.repeat(40_000)} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 .*at most 32 KiB/s);
  });

  it('answers bytes that are not HTTP with a 400', async () => {
    expect(await heard('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*"error":"bad_request"/);
    expect(await heard(`GET / HTTP/1.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /);
    const twoLengths = 'POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n{}  ';
    expect(await heard(twoLengths)).toMatch(/^HTTP\/1.1 400 /);
    const badLength = 'POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 2x\r\n\r\n{}';
    expect(await heard(badLength)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('tells a refusal as it is, with the seconds to wait in both headers', async () => {
    expect(await refused(await fetch(`${server.url}/fails/conflict`), 409, 'conflict')).toBe('It is taken.');
    const later = await fetch(`${server.url}/fails/later`);
    await refused(later, 429, 'rate_limited');
    expect([later.headers.get('retry-after'), later.headers.get('archivist-rate-limit-reset')]).toEqual(['3', '2.2']);
  });

  it('tells of its own fault nothing but a number', async () => {
    for (const how of ['bug', 'nothing']) {
      const description = await refused(await fetch(`${server.url}/fails/${how}`), 500, 'internal');
      const incident = description.match(/log has the reason under ([0-9a-f-]{36})\.$/)?.[1];
      expect(errors.at(-1)).toContain(`"incident":"${incident}"`);
    }
    expect(errors.join('')).toContain('secret detail');
  });

  it('answers 503 with the time to wait while the database is away, locked or cannot read its disk, and 400 for a value that it cannot keep', async () => {
    for (const how of ['down', 'slow', 'locked', 'unread']) {
      const response = await fetch(`${server.url}/fails/${how}`);
      expect(await refused(response, 503, 'unavailable')).not.toContain('secret');
      expect(response.headers.get('retry-after')).toBe('2');
    }
    await refused(await fetch(`${server.url}/fails/value`), 400, 'bad_request');
  });

  it('tells every answer of a route to the metrics', async () => {
    answers.length = 0;
    await fetch(`${server.url}/fails/conflict`);
    await fetch(`${server.url}/things/7:special`);
    expect(answers).toEqual([
      ['Fails', 409],
      ['Special', 200],
    ]);
  });
});
