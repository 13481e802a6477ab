import type { Request, Response } from 'express';
import type { ApiError } from '../errors.js';
import { errorBody } from './error-reply.js';
import type { Route } from './route.js';
import { sendAtOnce } from './send-reply.js';
import { wantsPage } from './wants-page.js';

const PAGE = { contentType: 'text/html; charset=utf-8' };

/** HTML that says what is wrong with an address, for the path of its request. */
export type NoSuchPage = (description: string, path: string) => string;

/** Refuses a request whose address leads to nothing: a person gets a page, if there is one, and every program the error. */
export function refuseAddress(
  page: NoSuchPage | undefined,
  request: Request,
  response: Response,
  refusal: ApiError,
  route?: Route,
): void {
  response.vary('accept');
  if (page && wantsPage(request)) sendAtOnce(response, PAGE, refusal.status, page(refusal.description, request.path));
  else sendError(response, refusal, route);
}

/** Sends a refusal, in the form that the route has for it. */
export function sendError(response: Response, error: ApiError, route?: Route): void {
  const told = route?.refusal?.tell(error) ?? { body: errorBody(error) };
  const reply = { ...told, status: error.status, headers: { ...told.headers, ...error.headers } };
  sendAtOnce(response, reply, error.status, reply.bytes ?? JSON.stringify(reply.body ?? {}));
}
