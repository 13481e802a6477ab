import { Readable } from 'node:stream';
import type { Response } from 'express';
import { jsonContent, PIECE_BYTES } from './json-content.js';
import type { Reply } from './route.js';
import { sendStream } from './send-stream.js';
import { endAfterBody } from './unread-body.js';

/**
 * Sends a reply; resolves when it is sent, or for a long one when the client has read it or disconnected. Long content
 * goes out in pieces, so that writing it holds up nobody and the pace of its reader can be seen.
 * @param measured is told the length before long content is sent
 * @throws what a stream throws
 */
export async function sendReply(
  response: Response,
  reply: Reply,
  success: number,
  measured: (bytes: number) => void,
): Promise<void> {
  if (reply.stream) return sendStream(response, reply, success);
  const content = reply.bytes ?? (await jsonContent(reply.body ?? {}));
  if (isShort(content)) return sendAtOnce(response, reply, success, content);
  // Bytes are not copied: a page that many slow readers are sent is in memory once.
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const pieces = (bytes instanceof Uint8Array ? [bytes] : bytes).flatMap(piecesOf);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  measured(length);
  if (reply.cookies) response.setHeader('set-cookie', reply.cookies);
  const { body: _, bytes: __, ...head } = reply;
  const stream = { content: Readable.from(pieces), length };
  return sendStream(response, { ...head, contentType: typeOf(reply), stream }, success);
}

function isShort(content: string | Uint8Array | readonly Uint8Array[]): content is string | Uint8Array {
  return (typeof content === 'string' || content instanceof Uint8Array) && content.length <= PIECE_BYTES;
}

function typeOf({ contentType, bytes }: Reply): string {
  return contentType ?? (bytes ? 'application/octet-stream' : 'application/json');
}

function piecesOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, place) => bytes.subarray(place * PIECE_BYTES, (place + 1) * PIECE_BYTES));
}

/** Sends short content with its head. */
export function sendAtOnce(response: Response, reply: Reply, success: number, content: Uint8Array | string): void {
  response.statusCode = reply.status ?? success;
  // Node sends text together with the head in one piece, and bytes in a second one.
  response.setHeader('content-type', typeOf(reply));
  for (const name in reply.headers) response.setHeader(name, reply.headers[name]!);
  if (reply.cookies) response.setHeader('set-cookie', reply.cookies);
  if (response.statusCode !== 304) response.setHeader('content-length', Buffer.byteLength(content));
  endAfterBody(response, content);
}
