import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-address.js';

/** Maximum number of connections of a listener. */
export interface ConnectionLimits {
  readonly total: number;
  /** Of one network address: an IPv4 address or an IPv6 /64 network. */
  readonly perAddress: number;
}

/** What a listener has unless it is told otherwise. */
export const USUAL_LIMITS: ConnectionLimits = { total: 4096, perAddress: 1024 };

interface Connection {
  readonly socket: Socket;
  readonly name: string;
  readonly network: Network;
  /** Requests that are not answered yet. */
  requests: number;
}

/** Open connections of one network. The idle ones are in the order in which they became idle. */
interface Network {
  readonly address: string;
  open: number;
  readonly idle: Set<Connection>;
}

/**
 * Keeps the number of connections of a listener within its limits. A new connection above a limit closes the one that
 * has been idle for longest: within its own network's limit one of that network. A connection that has sent no complete
 * request head counts as idle. If no connection is idle, the new one is closed.
 * @returns a function that closes the idle connections, so that a client that connects and sends nothing holds up no stop
 */
export function boundConnections(server: Server, limits: ConnectionLimits): () => void {
  const open = new Set<Connection>();
  /** The youngest of each name: where a request finds its connection. */
  const named = new Map<string, Connection>();
  const idle = new Set<Connection>();
  const networks = new Map<string, Network>();

  const networkAt = (address: string): Network =>
    networks.get(address) ?? { address, open: 0, idle: new Set<Connection>() };

  function setIdle(connection: Connection, isIdle: boolean): void {
    for (const set of [idle, connection.network.idle])
      if (isIdle) set.add(connection);
      else set.delete(connection);
  }

  /** Makes room for one more connection; false if every connection is in use. Each turn closes one. */
  function makeRoom(network: Network): boolean {
    for (;;) {
      const among = network.open >= limits.perAddress ? network.idle : open.size >= limits.total ? idle : undefined;
      if (among === undefined) return true;
      const [oldest] = among;
      if (!oldest) return false;
      forget(oldest);
      oldest.socket.destroy();
    }
  }

  function forget(connection: Connection): void {
    if (!open.delete(connection)) return;
    if (named.get(connection.name) === connection) named.delete(connection.name);
    setIdle(connection, false);
    const { network } = connection;
    network.open -= 1;
    if (network.open === 0) networks.delete(network.address);
  }

  server.on('connection', (socket: Socket) => {
    // Its client has reset it before it was accepted: it has no address, and nothing can be answered on it.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const address = networkOf(socket.remoteAddress);
    if (!makeRoom(networkAt(address))) {
      socket.destroy();
      return;
    }
    // Read again: room may have been made by closing the last connection of this network.
    const network = networkAt(address);
    networks.set(address, network);
    network.open += 1;
    const connection = { socket, name: nameOf(socket), network, requests: 0 };
    open.add(connection);
    named.set(connection.name, connection);
    setIdle(connection, true);
    socket.once('close', () => forget(connection));
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // With TLS, the request's socket is another object on the same connection.
    const connection = named.get(nameOf(request.socket));
    if (!connection) return;
    connection.requests += 1;
    setIdle(connection, false);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests === 0 && open.has(connection)) setIdle(connection, true);
    });
  });

  return () => {
    for (const { socket } of idle) socket.destroy();
  };
}

/** The same for both ends of TLS, while the connection is open. */
function nameOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
