import type { Clock } from '../../src/platform/clock.js';
import { DeliverLater, retryAfter } from './delivery-failure.js';
import { readJson } from './read-response.js';

/** The bearer token of an application, requested when needed and cached until it expires. */
interface AccessToken {
  /** @throws {DeliverLater} for every failure, because it is never the event's fault */
  get(): Promise<string>;
  /** Drops this token from the cache: the service has rejected it. */
  forget(token: string): void;
}

const RENEW_BEFORE_MS = 60_000;
const UNKNOWN_LIFETIME_SECONDS = 300;

interface Kept {
  readonly token: string;
  readonly untilMs: number;
}

/**
 * @param send posts a form and resolves with the response; may reject
 * @param secretExpires called with each token when the service says when the client secret expires
 */
export function createAccessToken(parts: {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock: Clock;
  send(form: URLSearchParams): Promise<Response>;
  secretExpires?(atMs: number): void;
}): AccessToken {
  let kept: Kept | undefined;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: parts.clientId,
      client_secret: parts.clientSecret,
    });
    const askedMs = parts.clock.now();
    const response = await parts.send(form);
    if (!response.ok) {
      await response.body?.cancel();
      const wait = retryAfter(response.headers.get('retry-after'), askedMs);
      throw new DeliverLater(`no token: the service answers ${response.status} to the credentials`, wait);
    }
    const body = await readJson<Partial<Record<'access_token' | 'expires_in' | 'client_secret_expires_at', unknown>>>(
      response,
      'token',
    );
    if (typeof body.access_token !== 'string') throw new DeliverLater('no token: the answer has none');
    const seconds = Number(body.expires_in) || UNKNOWN_LIFETIME_SECONDS;
    kept = { token: body.access_token, untilMs: askedMs + seconds * 1000 - RENEW_BEFORE_MS };
    const expires = body.client_secret_expires_at;
    if (typeof expires === 'number' && expires > 0) parts.secretExpires?.(expires * 1000);
    return kept.token;
  }

  return {
    async get() {
      if (kept && parts.clock.now() < kept.untilMs) return kept.token;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    forget(token) {
      if (kept?.token === token) kept = undefined;
    },
  };
}
