import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import { readCookie, setCookie } from '../../platform/http/cookies.js';
import type { Principal } from '../../platform/http/principal.js';
import { isSentByOtherPage } from '../../platform/http/sent-by-other-page.js';
import type { Ids } from '../../platform/ids.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { hashSecretToken, newSecretToken } from '../secret-token.js';
import {
  deleteSession,
  deleteSessionsOfMember,
  deleteSessionsOfTenancy,
  findSessionMember,
  insertSession,
  touchSession,
} from './session-store.js';

const SESSION_SECONDS = 12 * 60 * 60;
/** A session that was not used for this long has ended. */
const IDLE_MS = 60 * 60 * 1000;
/** The use of a session is recorded this often. */
const TOUCH_MS = 60 * 1000;

export interface SessionDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pepper: Uint8Array;
  readonly publicUrl: string;
}

/**
 * Over https the name binds the cookie to this host, the root path and TLS: no neighbouring host can set one (RFC
 * 6265bis, 4.1.3).
 */
export function sessionCookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? '__Host-archivist-session' : 'archivist-session';
}

/** True when browsers reach us over https. */
export function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}

/**
 * Opens a session, always with a new token, in the transaction that admitted the member. Returns its Set-Cookie header.
 */
export async function openSession(
  tx: Tx,
  deps: SessionDeps,
  member: { readonly tenantId: string; readonly memberId: string },
  groups: readonly string[],
): Promise<string> {
  const now = deps.clock.now();
  const token = newSecretToken((count) => deps.ids.randomBytes(count));
  await deleteSessionsOfTenancy(tx, member.tenantId, new Date(now));
  await insertSession(tx, {
    tenantId: member.tenantId,
    memberId: member.memberId,
    groups,
    sessionHash: hashSecretToken(deps.pepper, 'session', token),
    usedAt: new Date(now),
    expiresAt: new Date(now + SESSION_SECONDS * 1000),
  });
  return sessionCookie(deps.publicUrl, token, SESSION_SECONDS);
}

/**
 * Ends the session of a request, if it has one, or every session of its member. Returns the Set-Cookie header that
 * deletes the cookie.
 */
export async function endSession(deps: SessionDeps, cookies: string | undefined, everywhere: boolean): Promise<string> {
  const hash = sessionHash(deps, cookies);
  if (hash)
    await deps.database.inTransaction('system', async (tx) => {
      const member = everywhere ? await findSessionMember(tx, hash, times(deps)) : undefined;
      if (member) await deleteSessionsOfMember(tx, member.tenantId, member.memberId);
      await deleteSession(tx, hash);
    });
  return sessionCookie(deps.publicUrl, '', 0);
}

/**
 * The principal of a request's session, as of now; undefined without a valid session. A session ends twelve hours after
 * the sign-in, and an hour after its last use; a look `again` is no use.
 */
export async function principalOfSession(
  deps: SessionDeps,
  cookies: string | undefined,
  again?: 'again',
): Promise<Principal | undefined> {
  const hash = sessionHash(deps, cookies);
  if (!hash) return undefined;
  const { now, usedSince } = times(deps);
  const member = await deps.database.inTransaction('system', async (tx) => {
    const found = await findSessionMember(tx, hash, { now, usedSince });
    if (found && !again && now.getTime() - found.usedAt.getTime() >= TOUCH_MS) await touchSession(tx, hash, now);
    return found;
  });
  if (!member) return undefined;
  const { memberId: _id, usedAt: _used, ...person } = member;
  return { ...person, kind: 'member', claims: {} };
}

function sessionHash(deps: SessionDeps, cookies: string | undefined): Uint8Array | undefined {
  const token = readCookie(cookies, sessionCookieName(deps.publicUrl));
  return token === undefined || token === '' ? undefined : hashSecretToken(deps.pepper, 'session', token);
}

function times({ clock }: SessionDeps): { readonly now: Date; readonly usedSince: Date } {
  const now = clock.now();
  return { now: new Date(now), usedSince: new Date(now - IDLE_MS) };
}

/** A page of the service sends this header, with the value `write`, when it changes something with a session. */
const WRITE_HEADER = 'archivist-session';

/**
 * True for a request that a session may make: no page of another origin made the browser send it. A request that may
 * change something must also name our own origin, and have a header that a form cannot send and that no preflight allows
 * another origin.
 * @throws {ApiError} unauthorized if a page of another origin means to change something with the session
 */
export function mayUseSession(request: IncomingMessage, publicUrl: string): boolean {
  const isOurs = !isSentByOtherPage(request, publicUrl);
  if (request.method === 'GET' || request.method === 'HEAD') return isOurs;
  if (request.headers[WRITE_HEADER] !== 'write') return false;
  if (isOurs && request.headers.origin !== undefined) return true;
  const own = new URL(publicUrl).origin;
  throw new ApiError('unauthorized', `With a session, only pages of ${own} may change something. Open ${own}/console.`);
}

/** The Set-Cookie header of a session; 0 seconds delete it. */
export function sessionCookie(publicUrl: string, value: string, seconds: number): string {
  const secure = isSecure(publicUrl);
  return setCookie(sessionCookieName(publicUrl), value, { path: '/', sameSite: 'Strict', secure, seconds });
}
