import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as Listener } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Long enough for a request that is on its way when the server stops: in parts, so that a held-up process still reads it. */
const GRACE_PART_MS = 50;
const GRACE_PARTS = 5;

/**
 * Returns a function that stops a server so that no request that it gets is lost: it takes no more connections, and
 * every response ends its own, because a client that asks again and again would otherwise never let it stop. What is idle
 * after a moment is closed. Resolves when all connections are.
 * @param closeIdle closes the connections on which no request waits
 */
export function drainConnections(server: Server, closeIdle: () => void): () => Promise<void> {
  const answering = new Set<ServerResponse>();
  let stage: 'open' | 'draining' | 'closing' = 'open';
  server.on('request', (_request, response) => {
    answering.add(response);
    response.shouldKeepAlive &&= stage === 'open';
    response.once('close', () => {
      answering.delete(response);
      // Its head may have promised to keep the connection.
      if (stage === 'closing') setImmediate(closeIdle);
    });
  });
  return async () => {
    stage = 'draining';
    const closed = once(server, 'close');
    for (const response of answering) response.shouldKeepAlive = false;
    // That of an HTTP server would reset its idle connections at once.
    Listener.prototype.close.call(server);
    let ended = false;
    for (let part = 0; part < GRACE_PARTS && !ended; part += 1)
      ended = await Promise.race([closed.then(() => true), wait(GRACE_PART_MS, false)]);
    stage = 'closing';
    closeIdle();
    // Also ends the look for connections that are too slow.
    server.close();
    await closed;
  };
}
