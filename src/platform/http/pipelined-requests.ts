import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that wait for their responses; only a flood of pipelined requests has more. */
const MOST_PIPELINED = 64;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Handles the requests of each connection one after the other, with other connections served in between: Node hands out
 * all the requests that a client has sent without waiting for their responses at once. A connection on which more than
 * 64 wait is closed. When a connection ends, none of the requests that still wait is handled (RFC 9112 section 9.6).
 */
export function inTurn(handle: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Waiting[]>();
  const begin = (line: Waiting[]): void => {
    const [{ request, response } = {}] = line;
    if (!request || !response || !request.socket.writable) return;
    response.once('close', () => {
      line.shift();
      if (line.length > 0) setImmediate(begin, line);
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    // What arrived together with the last request is parsed after the connection was closed.
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? [];
    lines.set(socket, line);
    line.push({ request, response });
    if (line.length > MOST_PIPELINED) socket.destroy();
    else if (line.length === 1) begin(line);
  };
}
