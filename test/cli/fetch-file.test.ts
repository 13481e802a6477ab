import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { fetchFile, LogUnreachable } from '../../src/cli/monitor/fetch-file.js';

const MEBIBYTE = 1024 * 1024;

it.each<[string, RequestListener, string | RegExp]>([
  [
    'a redirect',
    (_, response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
    'redirects to https://elsewhere.example/: give the address of the service there',
  ],
  ['a redirect to nowhere', (_, response) => response.writeHead(304).end(), /\/file answers 304$/],
  ['an error', (_, response) => response.writeHead(500).end('not here'), /\/file answers 500$/],
  [
    'a file that is said to be too long, before it is sent',
    (_, response) => response.writeHead(200, { 'content-length': 65 * MEBIBYTE }).write('begun'),
    'answers 68157440 bytes, more than 67108864',
  ],
  [
    'a file that is too long, whatever it is said to be',
    (_, response) => void response.writeHead(200).end(Buffer.alloc(65 * MEBIBYTE)),
    'answers more than 67108864 bytes',
  ],
  [
    'a file that is cut off',
    (_, response) => response.writeHead(200, { 'content-length': 9 }).write('cut', () => response.destroy()),
    'ended before all of it was sent',
  ],
])('a monitor takes %s for no file of the log', async (_, listener, says) => {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const fetched = fetchFile(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file`);
  const error = await fetched.then(
    () => undefined,
    (refused: unknown) => refused,
  );
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  expect(error).toBeInstanceOf(LogUnreachable);
  expect((error as LogUnreachable).message).toMatch(says);
});
