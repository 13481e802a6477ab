import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { Reply } from './route.js';

/** A client that reads nothing for this long is disconnected, unless the reply says otherwise. */
const STALLED_MS = 60_000;

/**
 * Who listens for the end of a response: what watches its connection, its pace and its turn, and six parts of a pipeline.
 * From the eleventh on Node would warn the operator of a leak, once for each response.
 */
const LISTENERS = 20;

/**
 * Sends the stream of a reply; resolves when it is sent, or when the client has disconnected.
 * @throws what the stream throws, {Error} when it is not as long as it was declared: the response is then cut off
 */
export async function sendStream(response: Response, reply: Reply, success: number): Promise<void> {
  const { content, length, stalledMs = STALLED_MS } = reply.stream!;
  response.statusCode = reply.status ?? success;
  response.setHeader('content-type', reply.contentType ?? 'application/octet-stream');
  for (const name in reply.headers) response.setHeader(name, reply.headers[name]!);
  if (length !== undefined) response.setHeader('content-length', length);
  if (response.req.method === 'HEAD') {
    content.destroy();
    response.end();
    return;
  }
  response.setMaxListeners(LISTENERS);
  response.setTimeout(stalledMs, () => response.destroy());
  try {
    if (length === undefined) await pipeline(content, response);
    else await pipeline(content, (chunks: AsyncIterable<Uint8Array>) => exactly(length, chunks), response);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** A client would wait for bytes that were announced and never come. */
async function* exactly(length: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of chunks) {
    sent += chunk.length;
    // What goes beyond the length would be read as the next response of the connection.
    if (sent > length) break;
    yield chunk;
  }
  if (sent !== length)
    throw new Error(`a stream that should have ${length} bytes had ${sent > length ? 'more' : sent}`);
}
