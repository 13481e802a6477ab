import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.js';

const EMPTY = new Uint8Array();
/** Deeper than any event; far from what a recursive reader fails at. */
const MAX_DEPTH = 64;

/**
 * The whole body of a request.
 * @throws {ApiError} payload_too_large, unsupported_media_type for a compressed body, bad_request when it breaks off
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      `Content-Encoding ${encoding} is not understood; send the body as it is.`,
    );
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    request.on('data', (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > limit) {
        request.pause();
        reject(tooLarge(limit));
      } else chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 0 ? EMPTY : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
    );
    request.on('error', () => reject(new ApiError('bad_request', 'The body broke off.')));
  });
}

function tooLarge(limit: number): ApiError {
  // The rest of the body is not read, so this connection can carry no further request.
  return new ApiError('payload_too_large', `The body may have ${limit} bytes at most.`, { connection: 'close' });
}

/**
 * Reads JSON, whatever its content type says (client contract 2, 36).
 * @throws {ApiError} bad_request
 */
export function readJson(body: Uint8Array): unknown {
  if (depthOf(body) > MAX_DEPTH) throw new ApiError('bad_request', `The body is nested more than ${MAX_DEPTH} deep.`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ApiError('bad_request', 'The body is not UTF-8.');
  }
  if (text.includes('"__proto__"')) throw new ApiError('bad_request', 'The name __proto__ is not accepted.');
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('bad_request', 'The body is not JSON.');
  }
}

const QUOTE = 0x22;
const ESCAPE = 0x5c;

/** How deep arrays and objects are nested; brackets within strings do not count. */
function depthOf(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let place = 0; place < json.length; place += 1) {
    const byte = json[place]!;
    if (inString) {
      if (byte === ESCAPE) place += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return deepest;
}
