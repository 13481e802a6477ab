import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ApiError } from '../errors.js';
import type { Principal } from './principal.js';

export type AnswerHeader = 'location' | 'retry-after';

export type RequestHeader = 'idempotency-key' | 'x-request-total-count' | 'prefer';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: anybody, whoever brings a valid token, or the operator of the deployment. What the token's bearer may do is
 * the handler's business.
 */
export type Access = 'public' | 'token' | 'operator';

/** What a handler is given of a request, checked against the route's schemas. */
export interface RequestContext<Params, Query, Body, Caller> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The body's bytes as they came; empty without a body. */
  readonly rawBody: Uint8Array;
  /** By lower-case name; the values of a repeated header are joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly principal: Caller;
  /** Network address of the caller, as far as proxies are trusted: of IPv6 the /64 network, which one caller has alone. */
  readonly address: string;
  /** For a route with `formFile`: its body has not been read. */
  readonly request: IncomingMessage;
}

/** An answer: `body` as JSON, or `bytes` or a `stream` under their content type. The status is the route's success when not given. */
export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly bytes?: Uint8Array;
  /** Read to its end, or destroyed; `length` in bytes. */
  readonly stream?: { readonly content: Readable; readonly length: number };
  readonly contentType?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[];
}

/** How refusals are told where the JSON body of all others is not the custom; the status stays the refusal's. */
export interface Refusal {
  /** The body, when it is another than that of all others: its type, and its name and schema in the OpenAPI document. */
  readonly form?: {
    readonly contentType: string;
    readonly name: string;
    readonly schema: Readonly<Record<string, unknown>>;
  };
  tell(error: ApiError): Reply;
}

/** One endpoint as a plain record: what it is, who may call it, what it takes and answers, and what it does. */
export interface RouteDefinition<
  Caller extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  readonly method: Method;
  /** Express 5 syntax; a literal colon is escaped. Paths with one stand before the parameter that would swallow them. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Caller;
  /** Ours and not of the interface; said so in the OpenAPI document. */
  readonly extension?: true;
  readonly success: number;
  /** Every other status that it may answer. */
  readonly codes: readonly number[];
  readonly params?: Params;
  readonly query?: Query;
  /** JSON, whatever the content type says. Without it a body is refused only when it is too long. */
  readonly body?: Body;
  /** Leaves the body alone: the handler reads `rawBody`. */
  readonly rawBody?: true;
  /** Content type of a raw body, and what it holds where a schema can say it. */
  readonly requestType?: string;
  readonly rawBodySchema?: z.ZodType;
  /** A body that the documents show; a test sends it. */
  readonly example?: unknown;
  /** Headers that change what the route does, for its description. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** The field of the file in a multipart form, which the handler reads from the request as it comes. */
  readonly formFile?: string;
  /** Largest body in bytes. */
  readonly bodyLimit?: number;
  /** How many requests of the rate limit this one is, by its body; one when not given. */
  readonly weight?: (body: z.output<Body>) => number;
  readonly response?: z.ZodType;
  /** Content type of an answer that is not JSON alone; of several, the first is the usual one. */
  readonly rawResponse?: string | readonly [string, ...string[]];
  /** Headers that tell something, by the status that they come with; names in lower case. */
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

/** A route whose own types are forgotten: what lists of routes hold. */
export interface Route extends Omit<RouteDefinition<Access, z.ZodType, z.ZodType, z.ZodType>, 'handle' | 'weight'> {
  weight?(body: unknown): number;
  handle(context: RequestContext<unknown, unknown, unknown, Principal | undefined>): Promise<Reply>;
}

/** Types a handler by the schemas beside it. A missing schema types its part as undefined. */
export function route<
  const Caller extends Access,
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<Caller, Params, Query, Body>): Route {
  // The pipeline hands each handler only what these very schemas have passed.
  return definition as unknown as Route;
}
