import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../platform/errors.js';
import { isForm, readFormPart } from '../platform/http/form-part.js';
import { readJson } from '../platform/http/read-json.js';
import { STATEMENT_LIMITS } from './examine-statement.js';

/** The part of a form, or the member of a JSON object, that has the statement. */
export const STATEMENT = 'statement';
/** Room for a statement as base64, and for the rest of its form. */
export const SUBMISSION_LIMIT = 2 * STATEMENT_LIMITS.maxBytes;

const OBJECT_BEGINS = 0x7b;

/** Whether a body can only be a JSON object: a statement begins with tag 18. */
export function isJsonObject(body: Uint8Array): boolean {
  return body[0] === OBJECT_BEGINS;
}

/**
 * Returns the statement in the body of a registration: the body itself, a part of a form (bytes or base64), or the member of
 * a JSON object that the original's documents show (base64), whatever the content type says. The base64 may have either
 * alphabet: JSON of protocol buffers permits both.
 * @throws {ApiError} bad_request, payload_too_large
 */
export async function submittedStatement(body: Uint8Array, headers: IncomingHttpHeaders): Promise<Uint8Array> {
  if (isJsonObject(body)) return memberOf(await readJson(body));
  if (!isForm(body, headers)) return body;
  const part = await readFormPart(body, headers, { field: STATEMENT, limit: SUBMISSION_LIMIT });
  return fromBase64(Buffer.from(part).toString('latin1')) ?? part;
}

function memberOf(json: unknown): Uint8Array {
  const { [STATEMENT]: value } = json as Record<string, unknown>;
  const statement = typeof value === 'string' ? fromBase64(value) : undefined;
  if (statement === undefined)
    throw new ApiError('bad_request', `${STATEMENT}: must be the base64 of a signed statement`);
  return statement;
}

function fromBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s+/g, '');
  return /^(?:[A-Za-z0-9+/]+|[\w-]+)={0,2}$/.test(digits) ? Buffer.from(digits, 'base64') : undefined;
}
