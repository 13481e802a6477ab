import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors.js';

const FORM = /^multipart\/form-data\s*;/i;
/** The line that begins a form: a boundary has at most 70 characters (RFC 2046 section 5.1.1). */
const FIRST_LINE = /^--([^\r\n"\\]{1,70})\r\n/;
/** Under a type that is not that of a form, curl gives its parts another disposition than form-data. */
const DISPOSITION = /^(--[^\r\n]+\r\ncontent-disposition: *)[a-z]+(?=;)/i;
/** Room for both. */
const BEGINNING = 128;

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
  while (beginning.length < BEGINNING) {
    const { done, value } = await body.next();
    if (done) break;
    beginning = Buffer.concat([beginning, value]);
  }
  const start = beginning.subarray(0, BEGINNING).toString('latin1');
  const [, boundary] = FIRST_LINE.exec(start) ?? [];
  if (boundary === undefined) throw noBoundary();
  const asForm = Buffer.from(start.replace(DISPOSITION, '$1form-data'), 'latin1');
  const named = { ...headers, 'content-type': `multipart/form-data; boundary="${boundary}"` };
  return { headers: named, body: joined([asForm, beginning.subarray(BEGINNING)], body) };
}

/** The refusal of a body that is no form. */
export function noBoundary(): ApiError {
  return new ApiError('bad_request', 'content-type: must be multipart/form-data with a boundary');
}

async function* joined(beginning: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* beginning;
  yield* rest;
}
