import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors.js';

const FORM = /^multipart\/form-data\s*;/i;
/** The line that begins a form: a boundary has at most 70 characters (RFC 2046 section 5.1.1). */
const FIRST_LINE = /^--([^\r\n"\\]{1,70})\r\n/;
const LONGEST_LINE = 74;

/** The headers of a form, with its boundary, and its body from the first byte on. */
interface Form {
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Whether the content type is that of a form. */
export function isFormType({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return FORM.test(type ?? '');
}

/**
 * Returns a form with its boundary. If the content type is another one, the boundary is that which the body begins with:
 * clients write the media type of the file there (docs/design/interface.md#existing-clients).
 * @throws {ApiError} bad_request for a body that begins with no boundary; every error of `body`
 */
export async function formWithBoundary(headers: IncomingHttpHeaders, body: AsyncGenerator<Uint8Array>): Promise<Form> {
  if (isFormType(headers)) return { headers, body };
  let beginning = Buffer.alloc(0);
  while (beginning.length < LONGEST_LINE) {
    const { done, value } = await body.next();
    if (done) break;
    beginning = Buffer.concat([beginning, value]);
  }
  const [, boundary] = FIRST_LINE.exec(beginning.subarray(0, LONGEST_LINE).toString('latin1')) ?? [];
  if (boundary === undefined) throw noBoundary();
  const named = { ...headers, 'content-type': `multipart/form-data; boundary="${boundary}"` };
  return { headers: named, body: joined(beginning, body) };
}

/** The refusal of a body that is no form. */
export function noBoundary(): ApiError {
  return new ApiError('bad_request', 'content-type: must be multipart/form-data with a boundary');
}

async function* joined(beginning: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield beginning;
  yield* rest;
}
