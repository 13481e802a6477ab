import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../errors.js';
import { isFormType } from './form-boundary.js';
import { brokenOff, openParser } from './form-file.js';

const DASH = 0x2d;

/** Whether a body is a multipart form: its type says so, and it begins with a boundary. */
export function isForm(body: Uint8Array, headers: IncomingHttpHeaders): boolean {
  return isFormType(headers) && body[0] === DASH && body[1] === DASH;
}

/**
 * The bytes of one part of a multipart form (RFC 7578) that has arrived whole, sent as a file or as a field. Other parts
 * are dropped.
 * @throws {ApiError} bad_request for a form that is malformed, lacks the part or has it twice; payload_too_large
 */
export async function readFormPart(
  body: Uint8Array,
  headers: IncomingHttpHeaders,
  expected: { readonly field: string; readonly limit: number },
): Promise<Uint8Array> {
  const { field, limit } = expected;
  const parser = openParser(headers, limit);
  const parts: Promise<Uint8Array>[] = [];
  let isTooLarge = false;
  parser.on('file', (name, part) => {
    part.once('limit', () => {
      isTooLarge ||= name === field;
    });
    const content = part.toArray().then((chunks: Uint8Array[]) => Buffer.concat(chunks));
    // The pipeline below reports a form that is cut off.
    content.catch(() => undefined);
    if (name === field) parts.push(content);
  });
  parser.on('field', (name, value, { valueTruncated }) => {
    if (name !== field) return;
    isTooLarge ||= valueTruncated;
    parts.push(Promise.resolve(Buffer.from(value, 'latin1')));
  });
  await pipeline(Readable.from([body]), parser).catch(() => {
    throw brokenOff();
  });
  if (isTooLarge) throw new ApiError('payload_too_large', `${field}: may have at most ${limit} bytes`);
  const [part] = parts;
  if (part === undefined) throw new ApiError('bad_request', `${field}: the form must have this part`);
  if (parts.length > 1) throw new ApiError('bad_request', `${field}: must be sent once`);
  return part;
}
