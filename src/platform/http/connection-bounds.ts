import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-address.js';
import { type Connection, type ConnectionLimits, openConnections } from './open-connections.js';

/** The limits of a listener that sets no others. */
export const USUAL_LIMITS: ConnectionLimits = { total: 4096, perAddress: 1024 };

/**
 * Keeps the number of connections of a listener within its limits. A new connection above a limit closes the one that
 * has been idle for longest: within its own network's limit one of that network. A connection that has sent no complete
 * request head counts as idle. If no connection is idle, the new one is closed.
 * @returns a function that closes the idle connections, so that a client that connects and sends nothing holds up no stop
 */
export function boundConnections(server: Server, limits: ConnectionLimits): () => void {
  const connections = openConnections(limits);
  /** The youngest of each name: where a request finds its connection. */
  const named = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    // Without an address, its client has reset it before it was accepted, and nothing can be answered on it.
    const connection = remoteAddress === undefined ? undefined : connections.admit(socket, networkOf(remoteAddress));
    if (!connection) {
      socket.destroy();
      return;
    }
    const name = nameOf(socket);
    named.set(name, connection);
    socket.once('close', () => {
      connections.forget(connection);
      if (named.get(name) === connection) named.delete(name);
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // With TLS, the request's socket is another object on the same connection.
    const connection = named.get(nameOf(request.socket));
    if (!connection) return;
    connections.requestBegun(connection);
    response.once('close', () => connections.requestAnswered(connection));
  });

  return connections.closeIdle;
}

/** The same for both ends of TLS, while the connection is open. */
function nameOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
