import { CONSOLE_TEXTS } from './console-texts.js';
import { memberOf } from './json-members.js';
import { onService } from './service-path.js';

/** Why the service gave no answer that can be used. */
type Reason = 'signed_out' | 'hidden' | 'absent' | 'not_ready' | 'busy' | 'refused' | 'away';

/** A request without a usable answer; the message is the service's own, for the reader. */
export class Unanswered extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
    /** Seconds after which the service may answer. */
    readonly retryAfter = 1,
  ) {
    super(message);
  }
}

const REASONS: Readonly<Record<number, Reason>> = { 403: 'hidden', 404: 'absent', 429: 'busy', 503: 'busy' };

/**
 * Sends a request of the public interface with the reader's session, which the browser adds, and reads the answer to its
 * end. The page never sees the session.
 * @throws {Unanswered}
 */
async function ask<Body>(path: string, init: RequestInit, read: (response: Response) => Promise<Body>): Promise<Body> {
  try {
    const response = await fetch(onService(path), {
      ...init,
      headers: { accept: 'application/json, */*;q=0.5', ...init.headers },
    });
    if (response.ok) return await read(response);
    throw await refusalOf(response);
  } catch (error) {
    // No connection, or one that breaks off in the middle, is a TypeError; a page of a proxy in place of JSON the other.
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    throw new Unanswered('away', CONSOLE_TEXTS.away);
  }
}

async function refusalOf(response: Response): Promise<Unanswered> {
  // The service's own words are about tokens, which a reader never sees.
  if (response.status === 401) return new Unanswered('signed_out', CONSOLE_TEXTS.expired);
  const body: unknown = await response.json().catch(() => undefined);
  const isLate = memberOf(body, 'error') === 'not_ready';
  const reason = isLate ? 'not_ready' : (REASONS[response.status] ?? 'refused');
  const description = memberOf(body, 'description');
  const text = typeof description === 'string' ? description : CONSOLE_TEXTS.answered(response.status);
  return new Unanswered(reason, text, Number(response.headers.get('retry-after')) || 1);
}

const asJson = (response: Response): Promise<unknown> => response.json();

/** Reads JSON of the service. @throws {Unanswered} */
export function readJson(path: string, signal?: AbortSignal): Promise<unknown> {
  return ask(path, signal ? { signal } : {}, asJson);
}

/**
 * Changes something with the reader's session (docs/access.md#people) and reads the answer.
 * @throws {Unanswered} with the service's own words about what to change
 */
export function sendJson(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown> {
  const headers = { 'archivist-session': 'write', ...(body && { 'content-type': 'application/json' }) };
  return ask(path, { method, headers, ...(body && { body: JSON.stringify(body) }) }, asJson);
}

/** Reads a file of the service. @throws {Unanswered} */
export function readBytes(path: string): Promise<Uint8Array> {
  return ask(path, {}, async (response) => new Uint8Array(await response.arrayBuffer()));
}

/**
 * Ends the session of this browser, or every session of its owner. The service deletes the cookie.
 * @throws {Unanswered} if the session may go on
 */
export async function signOut(everywhere: boolean): Promise<void> {
  const path = onService(`/console/sign-out${everywhere ? '?everywhere=true' : ''}`);
  const response = await fetch(path, { method: 'POST', redirect: 'manual' }).catch(() => undefined);
  if (!response) throw new Unanswered('away', CONSOLE_TEXTS.notSignedOut(CONSOLE_TEXTS.away));
  // The service leads a browser whose session has ended back to the console.
  if (response.type !== 'opaqueredirect')
    throw new Unanswered('refused', CONSOLE_TEXTS.notSignedOut(CONSOLE_TEXTS.answered(response.status)));
}
