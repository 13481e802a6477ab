import type { IncomingMessage, ServerResponse } from 'node:http';

/** Time for a client to finish a body that nobody reads, once its request is answered. */
const FINISH_WITHIN_MS = 2_000;

/**
 * Closes the connection of a request that was answered before its body had arrived, unless the rest arrives soon. A
 * client that still sends reads the answer first: closing at once would reset the connection and lose the answer.
 */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return;
    setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, FINISH_WITHIN_MS).unref();
  });
}
