import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import { readCookie } from '../../platform/http/cookies.js';
import { isFromThisMachine } from '../../platform/http/loopback.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import { textDigest } from '../../platform/node-sha256.js';
import type { Database } from '../../platform/postgres/database.js';
import { applicationPrincipal } from '../applications/application-principal.js';
import { findApplicationForToken } from '../applications/application-store.js';
import { newSecretToken } from '../secret-token.js';
import { sessionCookie, sessionCookieName } from '../sessions/session.js';

const LINK_MS = 10 * 60 * 1000;
const SESSION_MS = 12 * 60 * 60 * 1000;
const IDLE_MS = 60 * 60 * 1000;
/** The path of the link. */
export const FIRST_LOOK_PATH = '/console/first-look';

interface FirstLookDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly publicUrl: string;
}

/** Signs the first Owner in on the machine that the service runs on, without an identity provider. */
export interface FirstLook {
  /** The link for a person; it works once, for ten minutes. */
  readonly link: string;
  /**
   * Opens the session. Returns its Set-Cookie header. A refused request leaves the link as it was.
   * @throws {ApiError} forbidden
   */
  redeem(request: IncomingMessage, token: string): Promise<string>;
  /** The principal of a request's session, as of now; undefined without one. */
  principalOf(request: IncomingMessage, again?: 'again'): Promise<Principal | undefined>;
  /** Ends the session of a request, or all of them. */
  end(cookies: string | undefined, everywhere: boolean): void;
}

/**
 * Offers a first look. Link and sessions exist only in this process, and only for requests from this machine, so that
 * nothing of them can be stolen from the database or used from elsewhere. A session is the application itself: it has
 * the roles that the application has now, and ends when its tokens are revoked.
 * @param clientId the application of the first Owner
 */
export function createFirstLook(deps: FirstLookDeps, clientId: string): FirstLook {
  const { clock, publicUrl } = deps;
  const random = () => newSecretToken((count) => deps.ids.randomBytes(count));
  const secret = random();
  const offeredUntil = clock.now() + LINK_MS;
  let offered: string | undefined = textDigest(secret);
  const sessions = new Map<string, { readonly endsAt: number; readonly epoch: number; usedAt: number }>();

  const find = () => deps.database.inTransaction('system', (tx) => findApplicationForToken(tx, clientId));
  const keyOf = (cookies: string | undefined) => textDigest(readCookie(cookies, sessionCookieName(publicUrl)) ?? '');

  return {
    link: `${publicUrl}${FIRST_LOOK_PATH}?token=${secret}`,
    async redeem(request, token) {
      if (!isFromThisMachine(request))
        throw new ApiError(
          'forbidden',
          'This link works only on the machine that the service runs on, without a proxy.',
        );
      if (offered === undefined || clock.now() >= offeredUntil || textDigest(token) !== offered)
        throw new ApiError('forbidden', 'This link was used or has expired. Restart the service to get another one.');
      const link = offered;
      // Before anything is awaited: of two requests at once, one is too late.
      offered = undefined;
      const owner = await find().catch((error: unknown) => {
        offered = link;
        throw error;
      });
      if (!owner) throw new ApiError('forbidden', 'The first Owner was deleted.');
      const session = random();
      const now = clock.now();
      sessions.set(textDigest(session), { endsAt: now + SESSION_MS, epoch: owner.epoch, usedAt: now });
      deps.logger.info({ client: clientId }, 'the first Owner signed in with the link of the start');
      return sessionCookie(publicUrl, session, SESSION_MS / 1000);
    },
    async principalOf(request, again) {
      const key = keyOf(request.headers.cookie);
      const session = sessions.get(key);
      if (!session || !isFromThisMachine(request)) return undefined;
      const now = clock.now();
      const owner = now < session.endsAt && now - session.usedAt < IDLE_MS ? await find() : undefined;
      if (owner?.epoch !== session.epoch) {
        sessions.delete(key);
        return undefined;
      }
      if (!again) session.usedAt = now;
      return applicationPrincipal(owner.application, publicUrl);
    },
    end(cookies, everywhere) {
      const key = keyOf(cookies);
      if (everywhere && sessions.has(key)) sessions.clear();
      sessions.delete(key);
    },
  };
}
