import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.js';
import { watchBodyPace } from './body-pace.js';

const EMPTY = new Uint8Array();
/** How much of a body that is too large is read and dropped: a client that is still sending would miss the refusal. */
const DROPPED = 4 * 1024 * 1024;

/**
 * Returns the whole body of a request.
 * @throws {ApiError} payload_too_large, unsupported_media_type for a compressed body, bad_request when it is cut off
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  requirePlainBody(request);
  if (Number(request.headers['content-length'] ?? 0) > limit + DROPPED) throw tooLarge(limit, { connection: 'close' });
  // Its events are past.
  if (request.destroyed) return Promise.reject(cutOff());
  return new Promise((resolve, reject) => {
    let chunks: Uint8Array[] = [];
    let length = 0;
    const arrived = watchBodyPace(request, () =>
      reject(
        new ApiError('bad_request', 'The body arrived too slowly: at least 80 KiB must arrive every ten seconds.', {
          connection: 'close',
        }),
      ),
    );
    request.on('close', () => {
      arrived();
      reject(cutOff());
    });
    request.on('data', (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else chunks = [];
      if (length > limit + DROPPED) reject(tooLarge(limit, { connection: 'close' }));
    });
    request.on('end', () => {
      arrived();
      if (length > limit) reject(tooLarge(limit));
      else resolve(chunks.length === 0 ? EMPTY : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    request.on('error', () => reject(cutOff()));
  });
}

/** @throws {ApiError} unsupported_media_type for a compressed body */
export function requirePlainBody({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new ApiError(
    'unsupported_media_type',
    'Content-Encoding: send the body without an encoding; none is supported.',
  );
}

function cutOff(): ApiError {
  return new ApiError('bad_request', 'The body was cut off.');
}

function tooLarge(limit: number, headers: Record<string, string> = {}): ApiError {
  return new ApiError('payload_too_large', `The body may have at most ${limit} bytes.`, headers);
}
