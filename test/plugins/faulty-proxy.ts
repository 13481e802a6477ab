import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the way to the service is at the moment; `lost` takes requests there and drops the answers. */
export type Way = 'well' | 'down' | 'slow' | 'lost' | 429 | 500 | 503;

export interface FaultyProxy {
  readonly url: string;
  /** Requests that came while the way was not well. */
  readonly spoiled: Readonly<Record<string, number>>;
  become(way: Way): void;
  close(): Promise<void>;
}

const SLOW_MS = 300;

/** A way to the service at this URL that can be spoiled. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let way: Way = 'well';
  const spoiled: Record<string, number> = {};

  async function handle(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const now = way;
    if (now !== 'well') spoiled[now] = (spoiled[now] ?? 0) + 1;
    if (now === 'down') return void incoming.socket.destroy();
    if (typeof now === 'number') {
      answer.writeHead(now, { 'content-type': 'application/json', 'retry-after': '1' });
      return void answer.end('{"error":"spoiled"}');
    }
    if (now === 'slow') await new Promise((wake) => setTimeout(wake, SLOW_MS));
    const { method, url, headers } = incoming;
    const onward = request(
      target + url,
      { method: method!, headers: { ...headers, host: new URL(target).host } },
      (response) => {
        if (now === 'lost') {
          response.resume();
          response.on('end', () => incoming.socket.destroy());
          return;
        }
        answer.writeHead(response.statusCode!, response.headers);
        response.pipe(answer);
      },
    );
    onward.on('error', () => incoming.socket.destroy());
    onward.end(Buffer.concat(chunks));
  }

  const server = createServer(
    (incoming, answer) => void handle(incoming, answer).catch(() => incoming.socket.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spoiled,
    become(next) {
      way = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
