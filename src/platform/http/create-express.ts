import { IncomingMessage, type RequestListener, type ServerOptions, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/** The classes of the messages that a server makes. */
type Messages = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;

/**
 * An Express application with classes of its own for requests and responses, for `messagesOf`. Express changes the
 * prototype of each message that does not have its application's, and V8 (Node 20) then makes a hidden class for that
 * one message: nothing that reads it stays optimised. It was a fifth of what an event post costs the event loop.
 */
export function createExpress(): Express {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  const app = express();
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.disable('x-powered-by');
  app.disable('etag');
  return app;
}

/** What a server must make for this handler, so that Express leaves the messages as they are. */
export function messagesOf(handler: RequestListener | Express): Messages {
  if (!('request' in handler)) return {};
  const { request, response } = handler;
  return { IncomingMessage: request.constructor, ServerResponse: response.constructor } as Messages;
}
