import type { Request } from 'express';
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
  const read = query?.safeParse(request.query);
  if (!read || read.success) return read?.data;
  throw schemaRefusal(read.error, 'query');
}

/** The segments of a wildcard, joined as they are in the path. */
function pathParameters(request: Request): Record<string, string> {
  const parameters = Object.entries(request.params as Record<string, string | string[]>);
  return Object.fromEntries(parameters.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]));
}
