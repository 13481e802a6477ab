import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from './sample-published-logs.js';

/** A service that publishes files, and that names no statement logs itself. */
export async function publishedService(answer: Answer): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = request.url === '/verifiabledata/tlog' ? '{"logs":[]}' : await answer(request.url!);
    if (body === undefined) response.writeHead(404).end();
    else response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => new Promise((closed) => server.close(() => closed())) };
}
