import { CONSOLE_TEXTS } from './console-texts.js';
import { memberOf } from './json-members.js';
import { onService } from './service-path.js';

/** Why the service gave no answer that can be used. */
type Reason = 'signed_out' | 'hidden' | 'absent' | 'not_ready' | 'refused' | 'away';

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

const REASONS: Readonly<Record<number, Reason>> = { 403: 'hidden', 404: 'absent' };

/**
 * Sends a request of the public interface with the reader's session, which the browser adds. The page never sees it.
 * @throws {Unanswered}
 */
async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(onService(path), {
      ...init,
      headers: { accept: 'application/json, */*;q=0.5', ...init.headers },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Unanswered('away', CONSOLE_TEXTS.away);
  }
  if (response.ok) return response;
  // The service's own words are about tokens, which a reader never sees.
  if (response.status === 401) throw new Unanswered('signed_out', CONSOLE_TEXTS.expired);
  const body: unknown = await response.json().catch(() => undefined);
  const isLate = memberOf(body, 'error') === 'not_ready';
  const reason = isLate ? 'not_ready' : (REASONS[response.status] ?? 'refused');
  const description = memberOf(body, 'description');
  const text = typeof description === 'string' ? description : CONSOLE_TEXTS.answered(response.status);
  throw new Unanswered(reason, text, Number(response.headers.get('retry-after')) || 1);
}

/** Reads JSON of the service. @throws {Unanswered} */
export async function readJson(path: string, signal?: AbortSignal): Promise<unknown> {
  return (await ask(path, signal && { signal })).json();
}

/**
 * Changes something with the reader's session (docs/access.md#people) and reads the answer.
 * @throws {Unanswered} with the service's own words about what to change
 */
export async function sendJson(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown> {
  const headers = { 'archivist-session': 'write', ...(body && { 'content-type': 'application/json' }) };
  const response = await ask(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return response.json();
}

/** Reads a file of the service. @throws {Unanswered} */
export async function readBytes(path: string): Promise<Uint8Array> {
  return new Uint8Array(await (await ask(path)).arrayBuffer());
}

/** Ends the session of this browser, or every session of its owner. The service deletes the cookie. */
export async function signOut(everywhere: boolean): Promise<void> {
  await fetch(onService(`/console/sign-out${everywhere ? '?everywhere=true' : ''}`), {
    method: 'POST',
    redirect: 'manual',
  });
}
