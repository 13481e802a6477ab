import type { IncomingMessage } from 'node:http';
import type { Principal } from './principal.js';

/**
 * Identifies the caller of a request by its headers and its connection.
 * @param again the request was admitted before and its response goes on: a session is not used by it
 * @throws {ApiError} unauthorized
 */
export type Authenticate = (request: IncomingMessage, again?: 'again') => Promise<Principal>;
