import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';

let server: HttpServer | undefined;
let client: Socket | undefined;
afterEach(async () => {
  client?.destroy();
  await server?.close();
});

const serve = async (handle: (path: string, response: ServerResponse) => void): Promise<void> => {
  server = await listen((request, response) => handle(request.url!, response), { host: '127.0.0.1', port: 0 });
};

/** Sends so many requests in one piece, after these bytes. */
const send = (count: number, before = '') => {
  const socket = connect(server!.port, '127.0.0.1');
  client = socket;
  let received = '';
  socket.on('error', () => undefined).on('data', (bytes) => (received += bytes));
  const requests = Array.from({ length: count }, (_, place) => `GET /${place} HTTP/1.1\r\nhost: a\r\n\r\n`);
  socket.write(before + requests.join(''));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { closed, received: () => received };
};

/** Longer than whatever is handed out late. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 100));

describe('requests that a client sends without waiting for responses', () => {
  it('are handled one after the other, each when the response before is sent', async () => {
    const begun: string[] = [];
    let open = 0;
    let mostOpen = 0;
    await serve((path, response) => {
      begun.push(path);
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      response.once('close', () => {
        open -= 1;
      });
      setTimeout(() => response.end(path), 1);
    });
    const { received } = send(60);
    await expect.poll(() => received().match(/\/\d+$|\/\d+(?=HTTP)/g)?.length).toBe(60);
    expect(begun).toEqual(Array.from({ length: 60 }, (_, place) => `/${place}`));
    expect(mostOpen).toBe(1);
  });

  it('leave turns to everybody else', async () => {
    const order: string[] = [];
    await serve((path, response) => {
      if (path === '/0') setImmediate(() => setImmediate(() => order.push('another')));
      order.push(path);
      response.end();
    });
    send(60);
    await expect.poll(() => order.length).toBe(61);
    expect(order.indexOf('another')).toBeLessThan(10);
  });

  it('close the connection as a flood, and none of the flood is handled after the first', async () => {
    let handled = 0;
    await serve((_path, response) => {
      handled += 1;
      response.end();
    });
    const { closed } = send(1_500);
    await closed;
    await quiet();
    expect(handled).toBe(1);
  });

  it('are not handled after a response that ends the connection', async () => {
    const begun: string[] = [];
    await serve((path, response) => {
      begun.push(path);
      response.setHeader('connection', 'close').end(path);
    });
    const first = 'POST /first HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n';
    const { closed } = send(3, first);
    await closed;
    await quiet();
    expect(begun).toEqual(['/first']);
  });
});
