import type { Server, ServerResponse } from 'node:http';

/** The least that a client must read of a response: `bytes` in each period, while there is more for it. */
export interface ResponsePace {
  readonly periodMs: number;
  readonly bytes: number;
}

/** 8 KiB a second, as for bodies: a response of 1 MiB has about 130 seconds. */
const LEAST_PACE: ResponsePace = { periodMs: 15_000, bytes: 120 * 1024 };

/**
 * Closes connections whose clients read their responses more slowly than the pace. Without it, a client that reads one
 * byte a second holds a response in memory for days. A response that waits for nothing but its own content, such as a
 * stream of events, is not counted.
 * @returns begins to watch a response
 */
export function paceResponses(server: Server, pace: ResponsePace = LEAST_PACE): (response: ServerResponse) => void {
  /** What each open response had passed on at the last look; undefined if nothing was waiting to be read. */
  const open = new Map<ServerResponse, number | undefined>();
  const look = (): void => {
    for (const [response, before] of open) {
      const { socket } = response;
      if (!socket) continue;
      const waiting = socket.writableLength;
      const passedOn = socket.bytesWritten - waiting;
      if (waiting > 0 && before !== undefined && passedOn - before < pace.bytes) socket.destroy();
      open.set(response, waiting > 0 ? passedOn : undefined);
    }
  };
  const timer = setInterval(look, pace.periodMs).unref();
  server.once('close', () => clearInterval(timer));
  return (response) => {
    open.set(response, undefined);
    response.once('close', () => open.delete(response));
  };
}
