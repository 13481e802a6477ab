import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { ApiError } from '../errors.js';
import { schemaRefusal } from './error-reply.js';
import type { Route } from './route.js';

/**
 * The parameters of the path, checked. One rule for every route: what no identity can be is not there, as an identity
 * that nothing has; bad_request only where the interface lists it (docs/design/interface.md#shapes).
 * @throws {ApiError} not_found, bad_request
 */
export function readParameters({ params, wrongId }: Route, request: Request): unknown {
  const read = params?.safeParse(pathParameters(request));
  if (!read || read.success) return read?.data;
  throw schemaRefusal(read.error, 'path', wrongId ?? 'not_found');
}

/** The query, checked. @throws {ApiError} bad_request */
export function readQuery({ query }: Route, request: Request): unknown {
  // Read leniently, such a filter would find nothing, and with != everything.
  if (query && !hasUtf8Escapes(request.url))
    throw new ApiError('bad_request', 'query: its percent-encoding must be UTF-8');
  const read = query?.safeParse(request.query);
  if (!read || read.success) return read?.data;
  throw schemaRefusal(read.error, 'query');
}

/** True if the escaped bytes beyond ASCII are UTF-8. */
function hasUtf8Escapes(url: string): boolean {
  return (url.match(/(?:%[89a-f][\da-f])+/gi) ?? []).every((escaped) =>
    isUtf8(Buffer.from(escaped.replaceAll('%', ''), 'hex')),
  );
}

/** The segments of a wildcard, joined as they are in the path. */
function pathParameters(request: Request): Record<string, string> {
  const parameters = Object.entries(request.params as Record<string, string | string[]>);
  return Object.fromEntries(parameters.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]));
}
