import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ApiError } from '../errors.js';
import type { Principal } from './principal.js';

export type AnswerHeader =
  | 'content-disposition'
  | 'content-range'
  | 'location'
  | 'retry-after'
  | 'www-authenticate'
  | 'x-total-count';

export type RequestHeader = 'idempotency-key' | 'x-request-total-count' | 'prefer';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: anybody, a caller with a valid token, or the operator of the deployment. The handler checks what the
 * token permits.
 */
export type Access = 'public' | 'token' | 'operator';

/** By lower-case name; the values of a repeated header are joined by a comma. */
type SentHeaders = Readonly<Record<string, string | undefined>>;

/** What a handler receives of a request, checked against the route's schemas. */
export interface RequestContext<Params, Query, Body, Caller> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The body's bytes as received; empty without a body. */
  readonly rawBody: Uint8Array;
  readonly headers: SentHeaders;
  readonly principal: Caller;
  /**
   * Network address of the caller, behind trusted proxies only; for IPv6 the /64 network, which belongs to one caller.
   */
  readonly address: string;
  /** Identifies the caller again, for a response that takes long; this is no use of a session. @throws {ApiError} */
  readonly identify: () => Promise<Caller>;
  /** For a route with `formFile`: its body has not been read. */
  readonly request: IncomingMessage;
}

/**
 * A response: `body` as JSON, or `bytes` or a `stream` with their content type. Without a status, the route's success
 * status is sent.
 */
export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly bytes?: Uint8Array;
  /**
   * The receiver reads it to its end or destroys it; `length` in bytes, undefined if nobody knows where it ends. A client
   * that reads nothing for `stalledMs` (one minute unless told) is disconnected.
   */
  readonly stream?: { readonly content: Readable; readonly length?: number; readonly stalledMs?: number };
  readonly contentType?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[];
}

/** How refusals are sent if callers of this route do not expect the usual JSON body; the status stays the same. */
export interface Refusal {
  /** The body, if it differs from the usual one: its type, and its name and schema in the OpenAPI document. */
  readonly form?: {
    readonly contentType: string;
    readonly name: string;
    readonly schema: Readonly<Record<string, unknown>>;
  };
  tell(error: ApiError): Reply;
}

/** One endpoint as a plain record: its name, its permitted callers, its inputs and responses, and its handler. */
interface RouteDefinition<
  Caller extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  readonly method: Method;
  /**
   * Express 5 syntax; a literal colon is escaped. Such paths are mounted before the parameter that would match them.
   */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Caller;
  /** An extension of the original interface; marked so in the OpenAPI document. */
  readonly extension?: true;
  readonly success: number;
  /** Stores nothing, although its method is not GET: it is answered while a disk is full. */
  readonly storesNothing?: true;
  /** Judges or stores times, although its method is GET and its callers have no tokens. */
  readonly usesTime?: true;
  /** Every other status that it may return. */
  readonly codes: readonly number[];
  readonly params?: Params;
  /** The refusal of a path whose parameters `params` does not accept; `not_found` unless the interface says otherwise. */
  readonly wrongId?: 'bad_request';
  readonly query?: Query;
  /** Parsed as JSON; the content type is ignored. Without a schema, a body is refused only when it is too long. */
  readonly body?: Body;
  /** The body is not parsed: the handler reads `rawBody`. */
  readonly rawBody?: true;
  /** Content types of a raw body, the usual one first, and its schema if there is one. */
  readonly requestType?: string | readonly [string, ...string[]];
  readonly rawBodySchema?: z.ZodType;
  /** The part of a multipart form, or the member of a JSON object (as base64), that may carry the raw body. */
  readonly carriedAs?: string;
  /** A body that the documents show; a test sends it. */
  readonly example?: unknown;
  /** Headers that change what the route does, for its description. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** The field of the file in a multipart form; the handler reads it as a stream from the request. */
  readonly formFile?: string;
  /** Largest body in bytes. */
  readonly bodyLimit?: number;
  /** Maximum number of values in a JSON body; 10,000 if undefined (read-json.ts). */
  readonly bodyValues?: number;
  /** How many requests this one counts as in the rate limit, by its body; default one. */
  readonly weight?: (body: z.output<Body>, rawBody: Uint8Array, headers: SentHeaders) => number;
  /** Counted in the caller's download budget: as the bytes of the response, and as no fewer than this, also if refused. */
  readonly leastCost?: number;
  /**
   * May read for long in one transaction: few such requests of one caller run at once, and others wait (long-read-room.ts).
   * A list may, too, if the request wants its exact total.
   */
  readonly longRead?: true | ((query: z.output<Query>) => boolean);
  /** Its response can have megabytes and is in memory until it is sent: it takes room among the pages (page-room.ts). */
  readonly large?: true;
  readonly response?: z.ZodType;
  /**
   * Content types of a response that is not only JSON; the first of several is the usual one. `response` is its JSON.
   */
  readonly rawResponse?: string | readonly [string, ...string[]];
  /** Answers with a page where `Accept` prefers HTML. */
  readonly pageForBrowsers?: true;
  /** Headers with information, by the status they are sent with, apart from those that every route sends with it. */
  readonly answerHeaders?: Readonly<Record<number, readonly AnswerHeader[]>>;
  readonly refusal?: Refusal;
  handle(
    context: RequestContext<
      z.output<Params>,
      z.output<Query>,
      z.output<Body>,
      Caller extends 'token' ? Principal : undefined
    >,
  ): Promise<Reply>;
}

/** A route without its type parameters, as lists of routes hold it. */
export interface Route extends Omit<RouteDefinition<Access, z.ZodType, z.ZodType, z.ZodType>, 'handle' | 'weight'> {
  weight?(body: unknown, rawBody: Uint8Array, headers: SentHeaders): number;
  handle(context: RequestContext<unknown, unknown, unknown, Principal | undefined>): Promise<Reply>;
}

/** Routes of one topic: a tag in the OpenAPI 3.1 document, and an OpenAPI 2.0 document of their own. */
export interface RouteGroup {
  /** Part of the path after `/archivist/`, spelled as in the interface: `v2/assets`. Never changes. */
  readonly name: string;
  readonly title: string;
  readonly routes: readonly Route[];
}

/** Types a handler by the schemas of its route. A missing schema makes its part undefined. */
export function route<
  const Caller extends Access,
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<Caller, Params, Query, Body>): Route {
  // The pipeline passes each handler only values that these schemas have accepted.
  return definition as unknown as Route;
}

/** Whether it is refused while the clock is wrong. */
export function usesTime({ access, method, usesTime }: Route): boolean {
  return access === 'token' || method !== 'GET' || usesTime === true;
}

/** Whether it is refused while a disk is full. Deletions pass: they may make room. */
export function stores({ method, storesNothing }: Route): boolean {
  return method !== 'GET' && method !== 'DELETE' && storesNothing !== true;
}

/** Headers of every response with this status (RFC 9110 sections 11.6.1, 14.4 and 10.2.3). */
const STATUS_HEADERS: Readonly<Record<number, readonly AnswerHeader[]>> = {
  206: ['content-range'],
  401: ['www-authenticate'],
  416: ['content-range'],
  429: ['retry-after'],
  503: ['retry-after'],
  507: ['retry-after'],
};

/** The headers with information that its responses with this status have. */
export function headersOf({ answerHeaders }: Route, status: number): readonly AnswerHeader[] {
  return [...(STATUS_HEADERS[status] ?? []), ...(answerHeaders?.[status] ?? [])];
}

/** Every status that it may return, in order, apart from those that any route may return. */
export function statusesOf(route: Route): number[] {
  return [...new Set([route.success, ...route.codes, ...(stores(route) ? [507] : [])])].sort();
}
