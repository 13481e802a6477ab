import type { IncomingMessage } from 'node:http';

/** A body was not received completely. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** Limits of one body, and of all bodies that are being received. */
export interface BodyLimits {
  readonly bodyBytes: number;
  readonly allBodiesBytes: number;
  /** The longest pause within a body. */
  readonly idleMs: number;
}

/** vCons carry recordings: one of 20 MB is ordinary. */
export const BODY_LIMITS: BodyLimits = {
  bodyBytes: 64 * 1024 * 1024,
  allBodiesBytes: 512 * 1024 * 1024,
  idleMs: 1_900,
};

/** Reads the bodies of requests byte for byte, completely or not at all. */
export function createBodyReader(limits: BodyLimits): (request: IncomingMessage) => Promise<Buffer> {
  let held = 0;

  return (request) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const idle = setTimeout(() => end(new BodyError('the body stopped arriving')), limits.idleMs);
      const end = (error?: BodyError): void => {
        clearTimeout(idle);
        request.removeAllListeners('data');
        held -= length;
        length = 0;
        if (error) reject(error);
        else resolve(Buffer.concat(chunks));
      };
      if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes)
        return end(new BodyError(`the body is larger than ${limits.bodyBytes} bytes`));
      request.on('data', (chunk: Buffer) => {
        idle.refresh();
        length += chunk.length;
        held += chunk.length;
        chunks.push(chunk);
        if (length > limits.bodyBytes) end(new BodyError(`the body is larger than ${limits.bodyBytes} bytes`));
        else if (held > limits.allBodiesBytes) end(new BodyError('too many bodies are being received'));
      });
      request.once('end', () => end());
      request.once('error', () => end(new BodyError('the connection broke within the body')));
      request.once('close', () => {
        if (!request.complete) end(new BodyError('the connection ended within the body'));
      });
    });
}
