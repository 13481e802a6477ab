import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy, { type Busboy } from 'busboy';
import { ApiError } from '../errors.js';
import { watchBodyPace } from './body-pace.js';
import { formWithBoundary, isFormType, noBoundary } from './form-boundary.js';
import { requirePlainBody } from './read-body.js';

/** A file of a multipart form that is being received. */
export interface FormFile {
  /**
   * The media type that the part declares, in lower case and without parameters. A part without one counts as
   * text/plain (RFC 7578 section 4.4).
   */
  readonly declaredType: string;
  /** Ends only when the whole form has arrived intact; otherwise throws an ApiError. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The file to read: its field, and its maximum size in bytes. */
interface Expected {
  readonly field: string;
  readonly limit: number;
}

/** Maximum size of the rest of the form, in bytes. */
const BESIDE = 1024 * 1024;
/** A field that is no file is in memory as a whole. */
const MOST_FIELD = 256 * 1024;
/** How much of a refused form is read and dropped: a client that is still sending would miss the refusal. */
const DROPPED = 4 * 1024 * 1024;

/**
 * Reads the one file of a multipart form (RFC 7578) while it arrives: only a few chunks are in memory at a time. Other
 * fields are dropped.
 * @param consume receives the file once and reads its content to the end; has ended when this resolves or throws
 * @throws {ApiError} bad_request for another body or a form without the file, unsupported_media_type for a compressed
 * body, quota_reached for a file over the limit; every error of `consume`
 */
export async function readFormFile<Result>(
  request: IncomingMessage,
  expected: Expected,
  consume: (file: FormFile) => Promise<Result>,
): Promise<Result> {
  requirePlainBody(request);
  if (Number(request.headers['content-length'] ?? 0) > expected.limit + BESIDE + DROPPED)
    throw tooLarge(expected, { connection: 'close' });
  request.once(
    'close',
    watchBodyPace(request, () => request.destroy()),
  );
  const { parser, body } = await openForm(request, expected);
  let consumed: Promise<Result> | undefined;
  const arrived = pipeline(body, parser).catch((error: unknown) => {
    throw error instanceof ApiError ? error : brokenOff();
  });
  arrived.catch(() => undefined);
  const refused = new Promise<never>((_, reject) => {
    parser.on('file', (name, part, { mimeType }) => {
      // The reader of the part receives the error.
      part.on('error', () => undefined);
      if (name !== expected.field) part.resume();
      else if (consumed) reject(new ApiError('bad_request', `${expected.field}: must be sent once`));
      else {
        part.once('limit', () => reject(tooLarge(expected)));
        consumed = consume({ declaredType: mimeType, content: wholeFile(part, arrived, expected) });
        consumed.catch(reject);
      }
    });
  });
  try {
    await Promise.race([arrived, refused]);
    if (!consumed) throw new ApiError('bad_request', `${expected.field}: the form must have a file in this field`);
    return await consumed;
  } finally {
    parser.destroy();
    await Promise.allSettled([arrived, consumed]);
    dropRest(request);
  }
}

/** The parser of the form, and the body that it is to read. @throws {ApiError} bad_request for a body that is no form */
async function openForm(
  request: IncomingMessage,
  expected: Expected,
): Promise<{ parser: Busboy; body: AsyncIterable<Uint8Array> }> {
  const sent = bounded(request, expected);
  try {
    const { headers, body } = await formWithBoundary(request.headers, sent);
    return { parser: openParser(headers, expected.limit), body };
  } catch (error) {
    // While it has not ended, nothing else can read the rest.
    await sent.return(undefined);
    dropRest(request);
    throw error instanceof ApiError ? error : brokenOff();
  }
}

/**
 * A parser of multipart forms with our limits. A field keeps its bytes, as latin1 text.
 * @throws {ApiError} bad_request for another content type
 */
export function openParser(headers: IncomingHttpHeaders, limit: number): Busboy {
  if (!isFormType(headers)) throw noBoundary();
  try {
    // The parser reports a file of exactly its limit as too large.
    const limits = { fileSize: limit + 1, fieldSize: Math.min(limit + 1, MOST_FIELD), parts: 20, headerPairs: 50 };
    return busboy({ headers, limits, defCharset: 'latin1' });
  } catch {
    throw noBoundary();
  }
}

/** The body, up to its limit. A consumer that stops reading leaves the connection open for the response. */
async function* bounded(request: Readable, expected: Expected): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > expected.limit + BESIDE) throw tooLarge(expected);
    yield chunk;
  }
}

async function* wholeFile(
  part: Readable & { truncated?: boolean },
  arrived: Promise<void>,
  expected: Expected,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of part as AsyncIterable<Uint8Array>) yield chunk;
  } catch {
    throw brokenOff();
  }
  if (part.truncated) throw tooLarge(expected);
  await arrived;
}

function dropRest(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  let dropped = 0;
  request.on('data', (chunk: Uint8Array) => {
    dropped += chunk.length;
    if (dropped > DROPPED) request.destroy();
  });
  request.resume();
}

/** 402, the status that the interface has for a blob above the quota. */
function tooLarge({ field, limit }: Expected, headers: Record<string, string> = {}): ApiError {
  return new ApiError('quota_reached', `${field}: may have at most ${limit} bytes`, headers);
}

/** The refusal of a form that cannot be read to its end. */
export function brokenOff(): ApiError {
  return new ApiError('bad_request', 'The form is cut off or malformed.');
}
