import { randomUUID } from 'node:crypto';
import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { ApiError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { Hold, SharedRoom } from '../shared-room.js';
import type { Authenticate } from './authenticate.js';
import { createBodyRoom, holdBody } from './body-room.js';
import { clientGone } from './client-gone.js';
import { crossOriginHeaders, OPEN_HEADERS, preflightHeaders } from './cross-origin.js';
import { type DownloadBudget, withinBudget } from './download-budget.js';
import { refusalOf } from './error-reply.js';
import { wantsExactTotal } from './exact-total.js';
import { createLongReadRoom } from './long-read-room.js';
import { networkOf } from './network-address.js';
import { createPageRoom } from './page-room.js';
import { indexPaths } from './path-index.js';
import type { Principal } from './principal.js';
import { readParameters, readQuery } from './read-address.js';
import { readBody } from './read-body.js';
import { bodyOf, readMembers } from './read-members.js';
import { type Reply, type RequestContext, type Route, stores, usesTime } from './route.js';
import { type NoSuchPage, refuseAddress, sendError } from './send-refusal.js';
import { sendReply } from './send-reply.js';

const DEFAULT_BODY_LIMIT = 1024 * 1024;
/** A request that took longer to arrive is identified again before it is handled. */
const IDENTIFIED_FOR_SECONDS = 1;
const NO_BODY = new Uint8Array();
/** A part of the address is wrong in form, or nothing has it. */
const WRONG_ADDRESS: readonly number[] = [400, 404];
export interface PipelineDeps {
  readonly authenticate: Authenticate;
  /** Authenticates the operator by the Authorization header. @throws {ApiError} unauthorized */
  readonly authenticateOperator: (authorization: string | undefined) => void;
  /** Counts a caller's requests; returns headers for the response. @throws {ApiError} rate_limited */
  readonly admit?: (principal: Principal, requests: number) => Promise<Readonly<Record<string, string>>>;
  /** The same for an upload, which waits its turn unless the client disconnects. @throws {ApiError} rate_limited */
  readonly admitUpload?: (principal: Principal, gone: AbortSignal) => Promise<Readonly<Record<string, string>>>;
  readonly downloads?: DownloadBudget;
  /** @throws {ClockWrong} while the clock cannot be trusted: no token can be judged, and nothing can be dated */
  readonly requireRightTime: () => void;
  /** @throws {ApiError} disk_full while nothing can be stored */
  readonly requireRoom: () => void;
  /** Origins whose pages may send a token. */
  readonly corsOrigins: readonly string[];
  readonly logger: Logger;
  /** Called after every response of a route. */
  readonly answered: (operationId: string, status: number, seconds: number) => void;
  /** HTML for a person whose address leads to nothing; everybody gets JSON without it. */
  readonly noSuchPage?: NoSuchPage;
  /** A monotonic clock in seconds. */
  readonly seconds: () => number;
}

interface ServingDeps extends PipelineDeps {
  readonly bodies: SharedRoom;
  readonly pages: SharedRoom;
  readonly longReads: SharedRoom;
}

/** The methods of one path. */
interface Resource {
  readonly methods: Map<string, Route>;
  readonly allow: string;
  /** Every route is public: a page of another origin may send requests. */
  readonly open: boolean;
}

/**
 * Mounts routes behind one pipeline: authenticate, admit, read, validate, handle, reply. A known path with another
 * method is 405, any other path 404. Every fault in a request is a 4xx that says what is wrong; a 5xx is always a fault
 * of the service.
 */
export function mountRoutes(app: Express, routes: readonly Route[], deps: PipelineDeps): void {
  // In any other environment, Express sends a stack trace to the caller if sending the refusal fails too.
  app.set('env', 'production');
  const served = { ...deps, bodies: createBodyRoom(), pages: createPageRoom(), longReads: createLongReadRoom() };
  const handlers = resourcesOf(routes).map(([path, resource]) => ({
    path,
    handle: (request: Request, response: Response) => dispatch(resource, served, request, response),
  }));
  app.use(indexPaths(handlers));
  app.use((request: Request, response: Response) => {
    const refusal = new ApiError('not_found', 'No resource has this path: /docs lists all paths.');
    refuseAddress(deps.noSuchPage, request, response, refusal, nearestRoute(routes, request));
  });
  // Express counts the parameters: a function with four handles errors, such as a path that cannot be decoded.
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    fail(response, deps.logger, error, 'pipeline', nearestRoute(routes, request));
  });
}

/** The route whose resource is nearest to a path that does not exist: its refusal has the form of its neighbours'. */
function nearestRoute(routes: readonly Route[], { path }: Request): Route | undefined {
  return routes.find((route) => route.refusal?.form && path.startsWith(`${route.path.split('/:')[0]}/`));
}

/** A path with an escaped colon also matches the parameter of its shorter sibling, so it is mounted first. */
function resourcesOf(routes: readonly Route[]): [path: string, resource: Resource][] {
  const byPath = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = byPath.get(route.path) ?? new Map<string, Route>();
    byPath.set(route.path, methods.set(route.method, route));
    if (route.method === 'GET') methods.set('HEAD', route);
  }
  const resources = [...byPath].map(([path, methods]): [string, Resource] => {
    const open = [...methods.values()].every((route) => route.access === 'public');
    return [path, { methods, allow: [...methods.keys(), 'OPTIONS'].join(', '), open }];
  });
  return resources.sort(([left], [right]) => Number(right.includes('\\:')) - Number(left.includes('\\:')));
}

async function dispatch(resource: Resource, deps: ServingDeps, request: Request, response: Response): Promise<void> {
  const route = resource.methods.get(request.method);
  if (route) await serve(route, deps, request, response, resource.open);
  else if (request.method === 'OPTIONS') sendOptions(resource, deps, request, response);
  else {
    const { allow } = resource;
    const refusal = new ApiError('method_not_allowed', `This path accepts ${allow}.`, { allow });
    sendError(response, refusal, [...resource.methods.values()][0]);
  }
}

function sendOptions(resource: Resource, deps: PipelineDeps, request: Request, response: Response): void {
  response.setHeader('allow', resource.allow);
  setHeaders(response, preflightHeaders(resource, request.headers.origin, deps.corsOrigins));
  response.writeHead(204).end();
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) response.setHeader(name, headers[name]!);
}

async function serve(
  route: Route,
  deps: ServingDeps,
  request: Request,
  response: Response,
  open: boolean,
): Promise<void> {
  const begun = deps.seconds();
  let isAnswered = false;
  const answered = (status: number): void => {
    isAnswered = true;
    deps.answered(route.operationId, status, deps.seconds() - begun);
  };
  const tell = (headers: Readonly<Record<string, string>>) => setHeaders(response, headers);
  tell(crossOriginHeaders(request.headers.origin, deps.corsOrigins));
  const held: Hold[] = [];
  try {
    const reply = await answer(route, deps, request, { tell, held: (hold) => held.push(hold) });
    // How long a client listens is no measure of the service.
    if (reply.stream && reply.stream.length === undefined) answered(reply.status ?? route.success);
    await sendReply(response, reply, route.success, (bytes) => held[0]?.resize(bytes));
  } catch (error) {
    if (open && !response.headersSent) tell(OPEN_HEADERS);
    const refusal = route.pageForBrowsers && !response.headersSent ? refusalOf(error) : undefined;
    if (refusal && WRONG_ADDRESS.includes(refusal.status))
      refuseAddress(deps.noSuchPage, request, response, refusal, route);
    else fail(response, deps.logger, error, route.operationId, route);
  } finally {
    held[0]?.release();
  }
  if (!isAnswered) answered(response.statusCode);
}

/** What becomes known of a request while it is answered. */
interface Progress {
  /** Sets headers that the response has whether or not the request is refused. */
  tell(headers: Readonly<Record<string, string>>): void;
  /** The room of its page, until it is sent. */
  held(hold: Hold): void;
}

async function answer(route: Route, deps: ServingDeps, request: Request, progress: Progress): Promise<Reply> {
  if (usesTime(route)) deps.requireRightTime();
  if (route.access === 'operator') deps.authenticateOperator(request.headers.authorization);
  const principal = route.access === 'token' ? await deps.authenticate(request) : undefined;
  if (principal) progress.tell(await admitted(route, deps, principal, request));
  if (stores(route)) deps.requireRoom();
  // A range is of a GET only (RFC 9110 section 14.2).
  if (request.method === 'HEAD') for (const name of ['range', 'x-ms-range']) delete request.headers[name];
  const reader = { caller: callerOf(principal, request), tenancy: principal?.tenantId };
  const sender = { principal, identifiedAt: deps.seconds(), reader };
  const takesBody = route.body !== undefined || route.rawBody === true;
  if (!takesBody) return answerBody(route, deps, request, { ...sender, rawBody: NO_BODY }, progress);
  const limit = route.bodyLimit ?? DEFAULT_BODY_LIMIT;
  const room = await holdBody(deps.bodies, request, limit, sender.reader);
  try {
    const rawBody = await readBody(request, limit);
    room?.resize(rawBody.length);
    return await answerBody(route, deps, request, { ...sender, rawBody }, progress);
  } finally {
    room?.release();
  }
}

/** Who sent a request, and its body. */
interface Sent {
  readonly principal: Principal | undefined;
  /** By `PipelineDeps.seconds`. */
  readonly identifiedAt: number;
  readonly reader: { readonly caller: string; readonly tenancy: string | undefined };
  readonly rawBody: Uint8Array;
}

async function answerBody(
  route: Route,
  deps: ServingDeps,
  request: Request,
  { principal, identifiedAt, reader, rawBody }: Sent,
  { tell, held }: Progress,
): Promise<Reply> {
  const context: RequestContext<unknown, unknown, unknown, Principal | undefined> = {
    params: readParameters(route, request),
    query: readQuery(route, request),
    body: route.body && readMembers(route, route.body, await bodyOf(route, request, rawBody), tell),
    rawBody,
    // Of the headers that Node keeps as lists, only set-cookie is an array, and no request has it.
    headers: request.headers as Record<string, string | undefined>,
    principal,
    get address() {
      return addressOf(request);
    },
    async identify() {
      if (principal) deps.requireRightTime();
      return principal && deps.authenticate(request, 'again');
    },
    request,
  };
  // Known only from the body; one request was counted before the body was read.
  const weight = route.weight?.(context.body, rawBody, context.headers) ?? 1;
  if (principal && weight > 1 && deps.admit) tell(await deps.admit(principal, weight - 1));
  if (isPaged(route) || route.large) held(await deps.pages.hold(reader, clientGone(request)));
  const handle = async (): Promise<Reply> => {
    const turn = isLong(route, context) ? await deps.longReads.hold(reader, clientGone(request)) : undefined;
    try {
      // What was lost while the body arrived, or the request waited, counts.
      if (!principal || deps.seconds() - identifiedAt < IDENTIFIED_FOR_SECONDS) return await route.handle(context);
      return await route.handle({ ...context, principal: await context.identify() });
    } finally {
      // Not only when it is sent: a slow reader keeps no place.
      turn?.release();
    }
  };
  return route.leastCost === undefined || !deps.downloads
    ? handle()
    : withinBudget(deps.downloads, route.leastCost, reader.caller, handle);
}

/** Lists are answered in pages, of megabytes if their entries are large. */
function isPaged({ response }: Route): boolean {
  return response instanceof z.ZodObject && 'next_page_token' in response.shape;
}

/** May read for long: by what it is, or by what this request wants of it. */
function isLong(route: Route, { query, headers }: RequestContext<unknown, unknown, unknown, unknown>): boolean {
  const { longRead = false } = route;
  const asked = typeof longRead === 'function' ? longRead(query) : longRead;
  return asked || (isPaged(route) && wantsExactTotal(headers));
}

/** A caller is an identity, or without one a network address. */
function callerOf(principal: Principal | undefined, request: Request): string {
  return principal ? `${principal.tenantId} ${principal.issuer} ${principal.subject}` : addressOf(request);
}

function addressOf(request: Request): string {
  return networkOf(request.ip, request.socket.remoteAddress);
}

function admitted(
  route: Route,
  { admit, admitUpload }: PipelineDeps,
  principal: Principal,
  request: Request,
): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>> {
  if (!route.formFile || !admitUpload) return admit?.(principal, 1) ?? {};
  return admitUpload(principal, clientGone(request));
}

/** Logs a fault of the service under a number. The caller gets only that number. */
function fail(response: Response, logger: Logger, error: unknown, operation: string, route?: Route): void {
  if (response.headersSent) {
    logger.error({ err: error, operation }, 'a response was cut off');
    response.destroy();
    return;
  }
  const refusal = refusalOf(error);
  if (refusal) {
    if (refusal.status >= 500)
      logger.warn({ err: error, operation }, 'a request was refused because a part of the service does not answer');
    sendError(response, refusal, route);
    return;
  }
  const incident = randomUUID();
  logger.error({ err: error, operation, incident }, 'a request failed');
  sendError(response, new ApiError('internal', `The service failed. Its log has the reason under ${incident}.`), route);
}
