import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { type Refusal, type Reply, type Route, route } from '../../platform/http/route.js';
import { escaped, smallPage } from '../../platform/http/small-page.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { endSession } from '../sessions/session.js';
import { askFirst } from './ask-first.js';
import { FIRST_LOOK_PATH } from './first-look.js';
import { beginSignIn, chooseProvider, endSignIn, findAcceptance, type Redirect, type SignInDeps } from './sign-in.js';

const shared = { access: 'public', extension: true, success: 302, rawResponse: 'text/html', usesTime: true } as const;
const REFUSALS = [400, 403, 404, 409, 503];
/** As the paths of these routes see it: the service may be below a path of its host. */
const CONSOLE = '../console';

/** How people sign in and out with a browser. These routes are not part of the interface. */
export function signInRoutes(deps: SignInDeps): Route[] {
  return [
    signInRoute(deps),
    callbackRoute(deps),
    callbackApartRoute(deps),
    acceptRoute(deps),
    firstLookRoute(deps),
    signOutRoute(deps),
  ];
}

function signInRoute(deps: SignInDeps): Route {
  return route({
    ...shared,
    method: 'GET',
    path: '/console/sign-in',
    operationId: 'Console_SignIn',
    summary: 'Sign in at the identity provider of a tenancy',
    codes: [200, ...REFUSALS],
    query: z.object({ tenancy: z.string().max(300).optional(), return_to: z.string().max(4096).optional() }),
    refusal: asPage(NOT_SIGNED_IN),
    handle: async ({ request, query }) => {
      const provider = await chooseProvider(deps, query.tenancy);
      if (!provider) return { status: 200, ...askForTenancy(query.tenancy, query.return_to) };
      const question = await askFirst(deps, request, { provider, action: 'sign-in', query });
      return question ?? redirect(await beginSignIn(deps, provider, { returnTo: query.return_to }));
    },
  });
}

function callbackRoute(deps: SignInDeps): Route {
  return route({
    ...shared,
    method: 'GET',
    path: '/console/callback',
    operationId: 'Console_Callback',
    summary: 'Finish a sign-in: the identity provider redirects people here',
    codes: REFUSALS,
    refusal: asPage(NOT_SIGNED_IN),
    handle: async ({ request, headers }) => {
      const { location, cookies } = await endSignIn(deps, { search: searchOf(request) }, headers['cookie']);
      return redirect({ location: fromHere(location, '..'), cookies });
    },
  });
}

function callbackApartRoute(deps: SignInDeps): Route {
  return route({
    ...shared,
    method: 'GET',
    path: '/console/callback/:tenancy',
    operationId: 'Console_CallbackOfTenancy',
    summary:
      'Finish a sign-in at the identity provider of one tenancy, if the provider does not name itself in its answers (RFC 9207)',
    codes: REFUSALS,
    params: z.object({ tenancy: uuidSchema }),
    refusal: asPage({ ...NOT_SIGNED_IN, next: '<a href="../sign-in">Sign in</a>' }),
    handle: async ({ request, headers, params: { tenancy } }) => {
      const { location, cookies } = await endSignIn(deps, { search: searchOf(request), tenancy }, headers['cookie']);
      return redirect({ location: fromHere(location, '../..'), cookies });
    },
  });
}

function acceptRoute(deps: SignInDeps): Route {
  return route({
    ...shared,
    method: 'GET',
    path: '/console/accept-invite',
    operationId: 'Console_AcceptInvite',
    summary: 'Accept an invite by signing in with the address that it was sent to',
    codes: [200, ...REFUSALS],
    query: z.object({
      token: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be the token in the link of the e-mail'),
    }),
    refusal: asPage(NOT_SIGNED_IN),
    handle: async ({ request, query }) => {
      const { invite, provider } = await findAcceptance(deps, query.token);
      const question = await askFirst(deps, request, { provider, action: 'accept-invite', query });
      const wanted = { inviteToken: query.token, loginHint: invite.email };
      return question ?? redirect(await beginSignIn(deps, provider, wanted));
    },
  });
}

function firstLookRoute({ firstLook }: SignInDeps): Route {
  return route({
    ...shared,
    method: 'GET',
    path: FIRST_LOOK_PATH,
    operationId: 'Console_FirstLook',
    summary:
      'Sign the first Owner in, once, with the link that the service prints at its start; only on the machine of the service',
    codes: [400, 403, 404, 503],
    query: z.object({ token: z.string().max(128) }),
    refusal: asPage(NO_FIRST_LOOK),
    handle: async ({ request, query }) => {
      if (!firstLook)
        throw new ApiError(
          'not_found',
          'This service has no sign-in link for its first Owner, because other machines can reach it.',
        );
      // Programs that preview a link must not use it up.
      if (request.method !== 'GET') throw new ApiError('forbidden', 'Open this link in a browser.');
      return redirect({ location: CONSOLE, cookies: [await firstLook.redeem(request, query.token)] });
    },
  });
}

function signOutRoute(deps: SignInDeps): Route {
  return route({
    ...shared,
    method: 'POST',
    path: '/console/sign-out',
    operationId: 'Console_SignOut',
    storesNothing: true,
    summary: 'End the session of this browser, or every session of the person',
    codes: [400, 403],
    query: z.object({ everywhere: z.enum(['true', 'false']).optional() }),
    refusal: asPage(NOT_SIGNED_OUT),
    handle: async ({ headers, query }) => {
      requireOwnPage(headers, deps.publicUrl);
      const everywhere = query.everywhere === 'true';
      deps.firstLook?.end(headers['cookie'], everywhere);
      const ended = await endSession(deps, headers['cookie'], everywhere);
      return redirect({ location: CONSOLE, cookies: [ended] });
    },
  });
}

/** Other sites must not sign people out. */
function requireOwnPage(headers: Readonly<Record<string, string | undefined>>, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const origin = headers['origin'];
  const foreign = (site !== undefined && site !== 'same-origin' && site !== 'none') || origin === 'null';
  if (foreign || (origin !== undefined && origin !== new URL(publicUrl).origin))
    throw new ApiError('forbidden', 'Another site may not sign you out.');
}

/** What a refusal is called, and what a person can do next. */
interface RefusalPage {
  readonly title: string;
  readonly next: string;
}

const NOT_SIGNED_IN: RefusalPage = { title: 'Not signed in', next: '<a href="sign-in">Sign in</a>' };
const NOT_SIGNED_OUT: RefusalPage = { title: 'Not signed out', next: `<a href="${CONSOLE}">Back to the console</a>` };
const NO_FIRST_LOOK: RefusalPage = {
  title: 'Not signed in',
  next: `If you have used the link in this browser before, you may still be signed in: <a href="${CONSOLE}">open the console</a>.`,
};

/** People get a refusal as a page. */
function asPage({ title, next }: RefusalPage): Refusal {
  return {
    form: { contentType: 'text/html', name: 'Page', schema: { type: 'string' } },
    tell: ({ code, description }) =>
      // Where nobody can sign in yet, a link to the sign-in leads nowhere.
      pageReply(title, [`<p>${escaped(description)}</p>`, ...(code === 'conflict' ? [] : [`<p>${next}</p>`])]),
  };
}

function pageReply(title: string, parts: readonly string[]): Pick<Reply, 'bytes' | 'contentType'> {
  return {
    bytes: new TextEncoder().encode(smallPage(title, parts)),
    contentType: 'text/html; charset=utf-8',
  };
}

/** A place in the console as a path from here; an address of the provider as it is. */
function fromHere(location: string, root: string): string {
  return location.startsWith('/') ? `${root}${location}` : location;
}

function redirect({ location, cookies }: Redirect): Reply {
  return {
    bytes: new Uint8Array(),
    contentType: 'text/html; charset=utf-8',
    headers: { location, 'referrer-policy': 'no-referrer' },
    cookies,
  };
}

/**
 * @param unknown what the reader typed, and is no tenancy where people can sign in
 * @param returnTo where the sign-in leads
 */
function askForTenancy(unknown = '', returnTo?: string): Pick<Reply, 'bytes' | 'contentType'> {
  const kept = returnTo === undefined ? '' : `<input type="hidden" name="return_to" value="${escaped(returnTo)}">`;
  return pageReply('Sign in', [
    ...(unknown
      ? [
          '<p>No tenancy with this domain or id has an identity provider. An Owner sets one. To look around before that, the operator restarts the service and opens the link that it prints.</p>',
        ]
      : []),
    `<form method="get" action="sign-in">${kept}`,
    `<p><label>The verified domain of your organisation, or the id of its tenancy: <input name="tenancy" value="${escaped(unknown)}" required maxlength="300"></label>`,
    '<button>Sign in</button></p></form>',
  ]);
}

function searchOf(request: IncomingMessage): string {
  const url = request.url ?? '';
  const question = url.indexOf('?');
  return question < 0 ? '' : url.slice(question);
}
