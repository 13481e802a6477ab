import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';

const CLIENTS = 20;
const LOCAL = { host: '127.0.0.1', port: 0 };

async function answering(answer: (response: ServerResponse) => unknown): Promise<HttpServer> {
  return listen((_request, response) => void answer(response), LOCAL);
}

/** Asks over one connection, again and again, and resolves with why it ended and how many were answered. */
async function askUntilItEnds(url: string): Promise<{ readonly reason: string; readonly answered: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let answered = 0; ; answered += 1) {
    try {
      const asked = request(url, { agent }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    } catch (error) {
      agent.destroy();
      return { reason: (error as NodeJS.ErrnoException).code!, answered };
    }
  }
}

describe('a server that stops', () => {
  it('answers every request of clients that keep asking, and ends although they keep asking', async () => {
    const server = await answering(async (response) => {
      await wait(2);
      response.end('answered');
    });
    const clients = Array.from({ length: CLIENTS }, () => askUntilItEnds(server.url));
    await wait(200);
    await server.close();
    const ends = await Promise.all(clients);
    expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set(['ECONNREFUSED']));
    expect(Math.min(...ends.map(({ answered }) => answered))).toBeGreaterThan(1);
  }, 10_000);

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
