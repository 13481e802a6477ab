import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';

const CLIENTS = 20;
const PATIENCE = { timeout: 10_000, interval: 20 };
/** Longer than a server that stops waits for requests that are on their way. */
const HELD_UP_MS = 400;
const LOCAL = { host: '127.0.0.1', port: 0 };

async function answering(answer: (response: ServerResponse) => unknown): Promise<HttpServer> {
  return listen((_request, response) => void answer(response), LOCAL);
}

/** Asks over one connection, again and again, and resolves with why it ended. @param answered called with each answer */
async function askUntilItEnds(url: string, answered: () => void): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    try {
      const asked = request(url, { agent }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      answered();
    } catch (error) {
      agent.destroy();
      return (error as NodeJS.ErrnoException).code!;
    }
  }
}

/** As on a machine that is busy with something else. */
function holdUp(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

describe('a server that stops', () => {
  it('answers every request of clients that keep asking, and ends although they keep asking', async () => {
    const server = await answering(async (response) => {
      await wait(2);
      response.end('answered');
    });
    const answers = new Array<number>(CLIENTS).fill(0);
    const clients = answers.map((_, client) =>
      askUntilItEnds(server.url, () => {
        answers[client]! += 1;
      }),
    );
    // A connection that the server has not taken yet when it stops is reset.
    await vi.waitFor(() => expect(Math.min(...answers)).toBeGreaterThan(1), PATIENCE);
    await server.close();
    expect(new Set(await Promise.all(clients))).toEqual(new Set(['ECONNREFUSED']));
  }, 20_000);

  it('reads the requests that came while its process was held up before it closes what is idle', async () => {
    const server = await answering((response) => response.end('answered'));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const asked = request(server.url, { agent }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    };
    await ask();
    const closing = server.close();
    const second = ask();
    holdUp(HELD_UP_MS);
    await second;
    await closing;
    agent.destroy();
  }, 20_000);

  it('answers to the end what it has begun to answer, and then ends that connection and those that are idle', async () => {
    const server = await answering(async (response) => {
      response.write('begun, ');
      await wait(600);
      response.end('ended');
    });
    const idle = connect(server.port, LOCAL.host);
    await once(idle, 'connect');
    const agent = new Agent({ keepAlive: true });
    const asked = request(server.url, { agent }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.headers.connection).toBe('keep-alive');
    const texts: string[] = [];
    response.setEncoding('utf8').on('data', (text: string) => texts.push(text));
    const ended = [once(response, 'end'), once(response.socket, 'close'), once(idle, 'close')];
    await Promise.all([server.close(), ...ended]);
    expect(texts.join('')).toBe('begun, ended');
  }, 10_000);
});
