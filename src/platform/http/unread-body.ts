import type { IncomingMessage, ServerResponse } from 'node:http';
import { watchBodyPace } from './body-pace.js';

/** The rest of a refused body is read only while it arrives at 128 KiB a second, and for ten seconds at most. */
const LEAST_PACE = { periodMs: 2_000, bytes: 256 * 1024 };
const FINISH_WITHIN_MS = 10_000;
/** After each piece of 64 KiB. Without a pause, Node.js reads 2 MiB of each connection in one turn of the event loop. */
const PAUSE_MS = 10;

/** Reads and drops the rest of a body; calls `done` once it has arrived, is too slow, takes too long or is cut off. */
function dropRest(request: IncomingMessage, done: () => void): void {
  const dropPiece = (): void => {
    request.pause();
    setTimeout(() => request.resume(), PAUSE_MS);
  };
  const stop = (): void => {
    unwatch();
    clearTimeout(timer);
    request.off('data', dropPiece).off('end', stop).off('close', stop);
    done();
  };
  const unwatch = watchBodyPace(request, stop, LEAST_PACE);
  const timer = setTimeout(stop, FINISH_WITHIN_MS).unref();
  request.on('data', dropPiece).on('end', stop).on('close', stop);
  request.resume();
}

/**
 * Closes the connection of a request that was answered before its body had arrived, unless the rest arrives soon. A
 * client that still sends reads the answer first: closing at once would reset the connection and lose the answer.
 */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  response.once('prefinish', () => {
    // Of a request that nobody has begun to read, Node.js drops the body itself: as much in a turn as has arrived.
    if (!request.complete) request.read(0);
  });
  response.once('finish', () => {
    if (request.complete) request.resume();
    else if (!request.socket.destroyed)
      dropRest(request, () => {
        if (!request.complete) request.socket.destroy();
      });
  });
}

/**
 * Ends a response with its content. If that closes the connection while the body is still arriving, the rest of the body
 * is dropped in between (RFC 9112 section 9.6): many clients read no answer before they have sent everything.
 */
export function endAfterBody(response: ServerResponse, content: Uint8Array | string): void {
  const { req: request } = response;
  // Not kept alive: because the request says so, as each request of many reverse proxies does.
  const closes = !response.shouldKeepAlive || response.getHeader('connection') === 'close';
  if (request.complete || !closes) {
    response.end(content);
    return;
  }
  response.write(content);
  dropRest(request, () => response.end());
}
