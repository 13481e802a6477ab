import { z } from 'zod';
import { readCookie, setCookie } from '../../platform/http/cookies.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import { isSecure } from '../sessions/session.js';

/** How long a person may take at the identity provider. */
const SIGN_IN_SECONDS = 10 * 60;
const PLACE = 'sign-in';
const START = '/console';

/**
 * `name`: the provider names itself in it (RFC 9207). `path`: it arrives at a redirect URI of the tenancy. `nothing`: no
 * tenancy has another provider.
 */
const TOLD_BY = ['name', 'path', 'nothing'] as const;

const stateSchema = z.object({
  tenantId: z.string(),
  issuer: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  /** What tells the provider's answer from those of other tenancies' providers. */
  toldBy: z.enum(TOLD_BY).default('nothing'),
  /** The scope `groups` was requested. */
  asksGroups: z.boolean().optional(),
  inviteToken: z.string().optional(),
  expiresAtMs: z.number(),
});

/**
 * What must be remembered of a started sign-in. Only the browser that started it has the state, and it can neither read
 * nor change it.
 */
export type SignInState = z.output<typeof stateSchema>;

export interface SignInStates {
  /** The Set-Cookie header that stores it, for ten minutes. */
  keep(state: Omit<SignInState, 'expiresAtMs'>): string;
  /** undefined if the request has no valid state. */
  read(cookies: string | undefined): SignInState | undefined;
  /** The Set-Cookie header that deletes it. */
  forget(): string;
}

export function createSignInStates(deps: {
  readonly box: SealedBox;
  readonly publicUrl: string;
  readonly now: () => number;
}): SignInStates {
  const secure = isSecure(deps.publicUrl);
  const name = secure ? '__Host-archivist-sign-in' : 'archivist-sign-in';
  // The identity provider's redirect back comes from another site, so this cookie cannot be Strict.
  const cookie = (value: string, seconds: number) =>
    setCookie(name, value, { path: '/', sameSite: 'Lax', secure, seconds });
  return {
    keep(state) {
      const kept: SignInState = { ...state, expiresAtMs: deps.now() + SIGN_IN_SECONDS * 1000 };
      return cookie(deps.box.seal(JSON.stringify(kept), PLACE), SIGN_IN_SECONDS);
    },
    read(cookies) {
      const opened = deps.box.open(readCookie(cookies, name) ?? '', PLACE);
      if (opened === undefined) return undefined;
      const state = stateSchema.parse(JSON.parse(opened));
      return deps.now() < state.expiresAtMs ? state : undefined;
    },
    forget: () => cookie('', 0),
  };
}

/** Where to go after signing in: a path of the console, or the console's start page for anything else. */
export function placeInConsole(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > 2048 || !/^\/console(?:[/?#][\x21-\x5b\x5d-\x7e]*)?$/.test(wanted))
    return START;
  // As a browser resolves it: `..` and `%2e%2e` lead out of the console.
  const { pathname, search, hash } = new URL(wanted, 'http://any.example');
  return pathname === START || pathname.startsWith(`${START}/`) ? `${pathname}${search}${hash}` : START;
}
