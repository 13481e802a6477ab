import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptedValues } from './accepted-values.js';
import { conditionOf } from './conditional-request.js';
import type { Reply } from './route.js';

/** Content that stays the same while the program runs, served from memory. */
export interface HeldFile {
  readonly contentType: string;
  readonly plain: Uint8Array;
  readonly gzipped: Uint8Array;
  /** The SHA-256 of the content, in hex. */
  readonly etag: string;
}

export async function holdFile(plain: Uint8Array, contentType: string): Promise<HeldFile> {
  const etag = `"${createHash('sha256').update(plain).digest('hex')}"`;
  return { contentType, plain, gzipped: await promisify(gzip)(plain), etag };
}

/**
 * Answers with a held file, compressed for clients that can read that, or with 304 for a client that has it.
 * @param asked the headers of the request
 * @param more headers of the answer; unless they say otherwise, clients check for a newer one each time
 */
export function heldFileReply(
  { contentType, plain, gzipped, etag }: HeldFile,
  asked: Readonly<Record<string, string | undefined>>,
  more: Readonly<Record<string, string>>,
): Reply {
  const isZipped = acceptedValues(asked['accept-encoding']).includes('gzip');
  const headers = {
    // A strong tag names bytes, and the compressed ones are others (RFC 9110 section 8.8.3.3).
    etag: isZipped ? `W/${etag}` : etag,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    ...more,
  };
  if (conditionOf(asked, etag) === 'unchanged') return { status: 304, bytes: new Uint8Array(), contentType, headers };
  if (!isZipped) return { bytes: plain, contentType, headers };
  return { bytes: gzipped, contentType, headers: { ...headers, 'content-encoding': 'gzip' } };
}
