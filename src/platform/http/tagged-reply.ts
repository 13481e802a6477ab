import { nodeSha256 } from '../node-sha256.js';
import { conditionOf } from './conditional-request.js';
import type { Reply } from './route.js';

/**
 * Adds a strong entity tag of the bytes; 304 without the bytes if the request's If-None-Match names it (RFC 9110 section
 * 13.1.2).
 */
export function taggedReply(
  reply: Reply & { readonly bytes: Uint8Array },
  requestHeaders: Readonly<Record<string, string | undefined>>,
): Reply {
  const etag = `"${Buffer.from(nodeSha256(reply.bytes)).toString('base64url')}"`;
  const tagged = { ...reply, headers: { ...reply.headers, etag } };
  return conditionOf({ 'if-none-match': requestHeaders['if-none-match'] }, etag) === 'unchanged'
    ? { ...tagged, status: 304, bytes: new Uint8Array() }
    : tagged;
}
