import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { endAfterBody } from '../../../src/platform/http/unread-body.js';

const POURED = Buffer.alloc(8 * 1024 * 1024);
/** Node.js reads 64 KiB at a time, and takes 2 MiB in a turn from a connection that somebody reads. */
const MOST_IN_A_TURN = 256 * 1024;

let server: HttpServer;
afterEach(() => server.close());

describe('the rest of a refused body', () => {
  it.each([
    ['answered at once', (response: ServerResponse) => response.writeHead(401, { 'content-length': 2 }).end('no')],
    [
      'answered with the end of the connection',
      (response: ServerResponse) => endAfterBody(response.setHeader('connection', 'close'), 'no'),
    ],
  ])('is dropped in pieces, and other work goes on between them: %s', async (_, answer) => {
    let inOneTurn: Promise<number> | undefined;
    server = await listen(
      (request, response) => {
        inOneTurn = mostReadInATurn(request);
        answer(response);
      },
      { host: '127.0.0.1', port: 0 },
    );
    const client = connect(server.port, '127.0.0.1').resume();
    client.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${POURED.length}\r\n\r\n`);
    client.write(POURED);
    await once(client, 'data');
    expect(await inOneTurn).toBeLessThanOrEqual(MOST_IN_A_TURN);
    client.destroy();
  });
});

describe('a client that sends everything before it reads', () => {
  it.each([
    ['HTTP/1.1', 'connection: close\r\n'],
    ['HTTP/1.0', ''],
  ])('is not cut off by a refusal that ends its %s connection', async (version, header) => {
    server = await listen((_request, response) => endAfterBody(response, 'no'), { host: '127.0.0.1', port: 0 });
    const client = connect(server.port, '127.0.0.1');
    client.write(`POST / ${version}\r\nhost: a\r\n${header}content-length: ${POURED.length}\r\n\r\n`);
    await once(client, 'readable');
    client.write(POURED);
    let answer = '';
    for await (const piece of client) answer += piece;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*no/s);
  });
});

/** Looks at the connection in every turn of the event loop until the body is complete. */
async function mostReadInATurn(request: IncomingMessage): Promise<number> {
  let most = 0;
  for (let read = request.socket.bytesRead; !request.complete; read = request.socket.bytesRead) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, request.socket.bytesRead - read);
  }
  return most;
}
