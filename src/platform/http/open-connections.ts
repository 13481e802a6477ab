import type { Socket } from 'node:net';

/** Maximum number of connections of a listener. */
export interface ConnectionLimits {
  readonly total: number;
  /** Of one network address: an IPv4 address or an IPv6 /64 network. */
  readonly perAddress: number;
}

/** Connections that have a limit together: those of one network, or of the listener. */
interface Group {
  readonly limit: number;
  readonly open: Set<Connection>;
  /** In the order in which they became idle. */
  readonly idle: Set<Connection>;
}

export interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly network: Group;
  /** Requests that are not answered yet. */
  requests: number;
}

/** The open connections of a listener, within its limits. */
interface OpenConnections {
  /**
   * Takes up a new connection, which is idle. At a limit, the connections that have been idle for longest are closed.
   * @param address of its network
   * @returns undefined if all that could make room for it are in use
   */
  admit(socket: Socket, address: string): Connection | undefined;
  /** The connection is in use until as many requests are answered. */
  requestBegun(connection: Connection): void;
  requestAnswered(connection: Connection): void;
  /** To be told of each connection that is closed. */
  forget(connection: Connection): void;
  closeIdle(): void;
}

/** Returns the connections of a listener that has none yet. */
export function openConnections(limits: ConnectionLimits): OpenConnections {
  const all = newGroup(limits.total);
  const networks = new Map<string, Group>();

  const networkAt = (address: string): Group => networks.get(address) ?? newGroup(limits.perAddress);

  /** Makes room for one more connection; false if every connection is in use. Each turn closes one. */
  function makeRoom(network: Group): boolean {
    for (;;) {
      const full = [network, all].find(({ open, limit }) => open.size >= limit);
      if (!full) return true;
      const [oldest] = full.idle;
      if (!oldest) return false;
      forget(oldest);
      oldest.socket.destroy();
    }
  }

  function forget(connection: Connection): void {
    if (!all.open.has(connection)) return;
    const { address, network } = connection;
    for (const { open, idle } of [network, all]) {
      open.delete(connection);
      idle.delete(connection);
    }
    if (network.open.size === 0) networks.delete(address);
  }

  return {
    admit(socket, address) {
      if (!makeRoom(networkAt(address))) return undefined;
      // Read again: room may have been made by closing the last connection of this network.
      const network = networkAt(address);
      networks.set(address, network);
      const connection = { socket, address, network, requests: 0 };
      for (const { open, idle } of [network, all]) {
        open.add(connection);
        idle.add(connection);
      }
      return connection;
    },
    requestBegun(connection) {
      connection.requests += 1;
      for (const { idle } of [connection.network, all]) idle.delete(connection);
    },
    requestAnswered(connection) {
      connection.requests -= 1;
      if (connection.requests > 0 || !all.open.has(connection)) return;
      for (const { idle } of [connection.network, all]) idle.add(connection);
    },
    forget,
    closeIdle() {
      for (const { socket } of all.idle) socket.destroy();
    },
  };
}

function newGroup(limit: number): Group {
  return { limit, open: new Set(), idle: new Set() };
}
