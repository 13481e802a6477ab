import type { IncomingMessage } from 'node:http';

/** The least that a body must advance: `bytes` in each period. */
interface BodyPace {
  readonly periodMs: number;
  readonly bytes: number;
}

/** 8 KiB a second, so that a body of 1 MiB has at most 130 seconds. */
const LEAST_PACE: BodyPace = { periodMs: 10_000, bytes: 80 * 1024 };

/**
 * Calls `late` once if the body of this request arrives more slowly than the pace. The time that a body may take is
 * therefore bounded by its length.
 * @returns stops watching; called when the body is complete or nobody reads it any more
 */
export function watchBodyPace(request: IncomingMessage, late: () => void, pace: BodyPace = LEAST_PACE): () => void {
  const { socket } = request;
  let seen = socket.bytesRead;
  const timer = setInterval(() => {
    const advanced = socket.bytesRead - seen;
    seen = socket.bytesRead;
    if (request.complete) clearInterval(timer);
    if (request.complete || advanced >= pace.bytes) return;
    clearInterval(timer);
    late();
  }, pace.periodMs).unref();
  return () => clearInterval(timer);
}
