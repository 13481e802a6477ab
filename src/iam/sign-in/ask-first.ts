import type { IncomingMessage } from 'node:http';
import type { Reply } from '../../platform/http/route.js';
import { isSentByOtherPage } from '../../platform/http/sent-by-other-page.js';
import { escaped, smallPage } from '../../platform/http/small-page.js';
import type { IdentityProvider } from '../identity-provider/identity-provider.js';
import { principalOfSession } from '../sessions/session.js';
import { findTenancy } from '../tenancies/tenancy-store.js';
import { chooseProvider, type SignInDeps } from './sign-in.js';

/** A sign-in, as a person can start it again. */
interface Wanted {
  readonly provider: IdentityProvider;
  /** The last part of the path. */
  readonly action: 'sign-in' | 'accept-invite';
  /** The parameters of the query. */
  readonly query: Readonly<Record<string, string | undefined>>;
}

/**
 * The page that asks whether a person wants this sign-in; undefined if no question is needed. A link of a stranger could
 * replace the person's session by one of the stranger's own tenancy, where the provider signs anybody in without a word
 * (login CSRF). A sign-in that a page of the console starts is wanted, and so is one at the only provider there is.
 */
export async function askFirst(deps: SignInDeps, request: IncomingMessage, wanted: Wanted): Promise<Reply | undefined> {
  const { tenantId } = wanted.provider;
  if (isSentByOurPage(request, deps.publicUrl) || (await chooseProvider(deps, undefined))) return undefined;
  if (!isSentByOtherPage(request, deps.publicUrl) && !(await hasSessionElsewhere(deps, request, tenantId)))
    return undefined;
  const tenancy = await deps.database.inTransaction('system', (tx) => findTenancy(tx, tenantId));
  return {
    status: 200,
    bytes: new TextEncoder().encode(questionPage(wanted, tenancy?.verifiedDomain || tenantId)),
    contentType: 'text/html; charset=utf-8',
    headers: { 'referrer-policy': 'same-origin' },
  };
}

/** Browsers that do not know Fetch Metadata, and all of them over plain HTTP, tell it by the referrer. */
function isSentByOurPage({ headers }: IncomingMessage, publicUrl: string): boolean {
  const { 'sec-fetch-site': site, referer = '' } = headers;
  if (site !== undefined) return site === 'same-origin';
  return URL.canParse(referer) && new URL(referer).origin === new URL(publicUrl).origin;
}

/** Not seen if a page of another site sent the request: the cookie is Strict. */
async function hasSessionElsewhere(deps: SignInDeps, request: IncomingMessage, tenantId: string): Promise<boolean> {
  const principal =
    (await deps.firstLook?.principalOf(request, 'again')) ??
    (await principalOfSession(deps, request.headers.cookie, 'again'));
  return principal !== undefined && principal.tenantId !== tenantId;
}

/** @param tenancy its verified domain or its UUID: its Owners choose its name, and may name it like another one */
function questionPage({ provider, action, query }: Wanted, tenancy: string): string {
  const fields = Object.entries(query).map(([name, value]) =>
    value === undefined ? '' : `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  );
  return smallPage('Sign in to this tenancy?', [
    `<p>You are about to sign in to the tenancy <strong>${escaped(tenancy)}</strong>, at its identity provider ${escaped(provider.issuer)}.</p>`,
    '<p>Continue only if you know this tenancy: its Owners can read what you enter there. If you are signed in to another tenancy, you leave it.</p>',
    `<form method="get" action="${action}">${fields.join('')}<button>Sign in</button></form>`,
    '<p><a href="../console">Back to the console</a></p>',
  ]);
}
