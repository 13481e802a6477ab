import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Express, Request, Response } from 'express';
import { ApiError } from '../errors.js';
import type { Logger } from '../logger.js';
import { errorBody, refusalOf } from './error-reply.js';
import type { Authenticate, Principal } from './principal.js';
import { readBody, readJson } from './read-body.js';
import type { Reply, RequestContext, Route } from './route.js';

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const NO_BODY = new Uint8Array();

export interface PipelineDeps {
  readonly authenticate: Authenticate;
  readonly logger: Logger;
  /** Told of every answer. */
  readonly answered: (operationId: string, status: number, seconds: number) => void;
  /** Seconds that only grow. */
  readonly seconds: () => number;
}

/**
 * Mounts routes behind the one pipeline: authenticate, read, validate, handle, reply. After the last route a known path
 * with another method is 405, and any other path 404.
 */
export function mountRoutes(app: Express, routes: readonly Route[], deps: PipelineDeps): void {
  const methods = new Map<string, Set<string>>();
  // A path with an escaped colon also matches the parameter of its shorter sibling, so it comes first.
  const ordered = [...routes].sort(
    (left, right) => Number(right.path.includes('\\:')) - Number(left.path.includes('\\:')),
  );
  for (const route of ordered) {
    methods.set(route.path, (methods.get(route.path) ?? new Set()).add(route.method));
    const verb = route.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
    app[verb](route.path, (request, response) => serve(route, deps, request, response));
  }
  for (const [path, known] of methods) {
    const allow = [...known, ...(known.has('GET') ? ['HEAD'] : [])].join(', ');
    app.all(path, (_request, response) => {
      sendError(response, new ApiError('method_not_allowed', `Use ${allow}.`, { allow }));
    });
  }
  app.use((_request: Request, response: Response) => {
    sendError(response, new ApiError('not_found', 'There is nothing at this path.'));
  });
  app.use((error: unknown, _request: Request, response: Response, next: (error?: unknown) => void) => {
    if (response.headersSent) next(error);
    else sendError(response, refusalOf(error) ?? unexpected(deps.logger, error, 'pipeline'));
  });
}

async function serve(route: Route, deps: PipelineDeps, request: Request, response: Response): Promise<void> {
  const begun = deps.seconds();
  try {
    const reply = await answer(route, deps, request);
    await send(response, reply, route.success);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else sendError(response, refusalOf(error) ?? unexpected(deps.logger, error, route.operationId));
  } finally {
    deps.answered(route.operationId, response.statusCode, deps.seconds() - begun);
  }
}

async function answer(route: Route, deps: PipelineDeps, request: Request): Promise<Reply> {
  const principal = route.access === 'token' ? await deps.authenticate(request.headers.authorization) : undefined;
  const takesBody = route.body !== undefined || route.rawBody === true;
  const rawBody = takesBody ? await readBody(request, route.bodyLimit ?? DEFAULT_BODY_LIMIT) : NO_BODY;
  const context: RequestContext<unknown, unknown, unknown, Principal | undefined> = {
    params: route.params ? route.params.parse(request.params) : undefined,
    query: route.query ? route.query.parse(request.query) : request.query,
    body: route.body ? route.body.parse(readJson(rawBody)) : undefined,
    rawBody,
    headers: request.headers as Record<string, string | undefined>,
    principal,
  };
  return route.handle(context);
}

async function send(response: Response, reply: Reply, success: number): Promise<void> {
  response.statusCode = reply.status ?? success;
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if (reply.bytes instanceof Readable) {
    response.setHeader('content-type', reply.contentType ?? 'application/octet-stream');
    await pipeline(reply.bytes, response);
    return;
  }
  const bytes = reply.bytes ?? Buffer.from(JSON.stringify(reply.body ?? {}));
  response.setHeader(
    'content-type',
    reply.bytes ? (reply.contentType ?? 'application/octet-stream') : 'application/json',
  );
  // A handler of HEAD tells the length of what it does not send.
  if (!response.hasHeader('content-length')) response.setHeader('content-length', bytes.length);
  response.end(bytes);
}

function sendError(response: Response, error: ApiError): void {
  response.statusCode = error.status;
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(errorBody(error)));
}

/** Our own fault: told in the log under a number that the caller gets too, and nothing else. */
function unexpected(logger: Logger, error: unknown, operation: string): ApiError {
  const incident = randomUUID();
  logger.error({ err: error, operation, incident }, 'a request failed');
  return new ApiError('internal', `The service failed; its log tells why under ${incident}.`);
}
