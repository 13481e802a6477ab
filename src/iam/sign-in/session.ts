import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../platform/clock.js';
import { readCookie, setCookie } from '../../platform/http/cookies.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Ids } from '../../platform/ids.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { hashSecretToken, newSecretToken } from '../secret-token.js';
import { deleteSession, deleteSessionsOfTenancy, findSessionMember, insertSession } from './session-store.js';

const SESSION_SECONDS = 12 * 60 * 60;

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
    expiresAt: new Date(now + SESSION_SECONDS * 1000),
  });
  return sessionCookie(deps.publicUrl, token, SESSION_SECONDS);
}

/** Ends the session of a request, if it has one. Returns the Set-Cookie header that deletes the cookie. */
export async function endSession(deps: SessionDeps, cookies: string | undefined): Promise<string> {
  const token = readCookie(cookies, sessionCookieName(deps.publicUrl));
  if (token !== undefined) {
    const hash = hashSecretToken(deps.pepper, 'session', token);
    await deps.database.inTransaction('system', (tx) => deleteSession(tx, hash));
  }
  return sessionCookie(deps.publicUrl, '', 0);
}

/** The principal of a request's session, as of now; undefined without a valid session. */
export async function principalOfSession(
  deps: SessionDeps,
  cookies: string | undefined,
): Promise<Principal | undefined> {
  const token = readCookie(cookies, sessionCookieName(deps.publicUrl));
  if (token === undefined || token === '') return undefined;
  const hash = hashSecretToken(deps.pepper, 'session', token);
  const now = new Date(deps.clock.now());
  const member = await deps.database.inTransaction('system', (tx) => findSessionMember(tx, hash, now));
  return member && { ...member, kind: 'member', claims: {} };
}

/**
 * True for a request that a session may make: it changes nothing, and no other site made the browser send it. The
 * cookie is SameSite=Lax, which still permits plain links from other sites; Fetch Metadata detects those.
 */
export function mayUseSession(request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site'];
  const reads = request.method === 'GET' || request.method === 'HEAD';
  return reads && (site === undefined || site === 'same-origin' || site === 'none');
}

function sessionCookie(publicUrl: string, value: string, seconds: number): string {
  return setCookie(sessionCookieName(publicUrl), value, { path: '/', secure: isSecure(publicUrl), seconds });
}
