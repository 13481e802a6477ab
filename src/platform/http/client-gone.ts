import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * A signal that is aborted when the connection of a request closes. Requests that share a connection share the signal: a
 * listener for each of them would stay on the connection for as long as the client keeps it.
 */
export function clientGone({ socket }: IncomingMessage): AbortSignal {
  const known = signals.get(socket);
  if (known) return known;
  const gone = new AbortController();
  if (socket.destroyed) gone.abort();
  socket.once('close', () => gone.abort());
  signals.set(socket, gone.signal);
  return gone.signal;
}
