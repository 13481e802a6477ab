import type { Request } from 'express';
import type { z } from 'zod';
import { ApiError } from '../errors.js';
import { MASK, maskedBody } from './field-mask.js';
import { readJson } from './read-json.js';
import type { Route } from './route.js';
import { unknownMembers } from './unknown-members.js';

/** Maximum number of ignored members that a response lists. */
const MAX_NAMED = 16;
const MAX_NAME = 128;

/**
 * A route of the original interface ignores an unknown member, as stock clients need it, and names it in a header; an
 * extension route refuses it. Both reveal a typing error.
 */
export function readMembers(
  route: Route,
  schema: z.ZodType,
  { sent, body }: SentBody,
  tell: (headers: Readonly<Record<string, string>>) => void,
): unknown {
  const read = schema.parse(body);
  const unknown = unknownMembers(schema, sent);
  if (unknown.length === 0) return read;
  if (route.extension)
    throw new ApiError('bad_request', `${unknown[0]}: is not a member of this body; remove it or correct its name`);
  tell({ 'x-ignored-members': unknown.slice(0, MAX_NAMED).map(headerName).join(', ') });
  return read;
}

/** A member's name as a header can carry it: a long one is cut, a lone surrogate becomes U+FFFD. */
function headerName(name: string): string {
  return encodeURIComponent(Buffer.from(name.slice(0, MAX_NAME)).toString());
}

/** The body of a request, and what counts of it: of a PATCH with a mask, a part. */
type SentBody = { readonly sent: unknown; readonly body: unknown };

export async function bodyOf(route: Route, request: Request, rawBody: Uint8Array): Promise<SentBody> {
  const sent = await readJson(rawBody, route.bodyValues);
  const body = route.method === 'PATCH' && route.body ? maskedBody(request.query[MASK], sent, route.body) : sent;
  return { sent, body };
}
