import * as openid from 'openid-client';
import type { Clock } from '../../platform/clock.js';
import { ApiError, retryLater } from '../../platform/errors.js';
import { failureReason } from '../../platform/explain-failure.js';
import type { OutboundFetch } from '../../platform/http/outbound-fetch.js';
import type { Ids } from '../../platform/ids.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import type { IdentityProvider } from '../identity-provider/identity-provider.js';
import { findProvider, findProvidersToSignIn, hasOtherIssuer } from '../identity-provider/identity-provider-store.js';
import { openProvider } from '../identity-provider/open-provider.js';
import { readClaims } from '../identity-provider/read-claims.js';
import type { Invite } from '../invites/invite.js';
import { findInviteByToken } from '../invites/invite-store.js';
import { hashSecretToken } from '../secret-token.js';
import { admitPerson, providerChanged } from './admit-person.js';
import type { FirstLook } from './first-look.js';
import { placeInConsole, type SignInState, type SignInStates } from './sign-in-state.js';
import { isScopeRefused, TRY_AGAIN_SECONDS, whyNotOpened, whyUnconfirmed } from './unconfirmed-sign-in.js';

export interface SignInDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly pepper: Uint8Array;
  readonly states: SignInStates;
  /** Opens the client secrets at the providers. */
  readonly clientSecrets: SealedBox;
  readonly fetch: OutboundFetch;
  readonly allowPrivate: boolean;
  /** Undefined where the service does not offer it. */
  readonly firstLook?: FirstLook | undefined;
}

/** The next URL for the browser, with these cookies. */
export interface Redirect {
  readonly location: string;
  readonly cookies: readonly string[];
}

interface Wanted {
  readonly returnTo?: string | undefined;
  readonly inviteToken?: string | undefined;
  readonly loginHint?: string;
  /** The provider has refused the scope `groups`. */
  readonly withoutGroups?: boolean;
}

/** Where a browser comes back to from a provider. */
interface Callback {
  /** With its question mark. */
  readonly search: string;
  /** In the path, if it is the redirect URI of a tenancy. */
  readonly tenancy?: string;
}

/** The provider of a tenancy named by its UUID or its verified domain, or the only provider if there is just one. */
export async function chooseProvider(
  deps: SignInDeps,
  tenancy: string | undefined,
): Promise<IdentityProvider | undefined> {
  const named = tenancy?.trim().replace(/^(tenancies|tenant)\//, '');
  const found = await deps.database.inTransaction('system', (tx) => findProvidersToSignIn(tx, named));
  return found.length === 1 ? found[0] : undefined;
}

/** Sends a browser to the provider of a tenancy (authorization code with PKCE, RFC 7636). @throws {ApiError} unavailable */
export async function beginSignIn(deps: SignInDeps, provider: IdentityProvider, wanted: Wanted): Promise<Redirect> {
  const client = await clientOf(deps, provider);
  const toldBy = await howTold(deps, provider, client);
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  // Some providers tell the groups only to a client that requests this scope; others refuse a scope that they do not know.
  const asksGroups = !wanted.withoutGroups && (client.serverMetadata().scopes_supported ?? []).includes('groups');
  const verifier = openid.randomPKCECodeVerifier();
  const location = authorizationUrl(deps, provider, client, {
    redirect_uri: callbackUrl(deps.publicUrl, toldBy === 'path' ? provider.tenantId : undefined),
    response_type: 'code',
    scope: `openid email profile${asksGroups ? ' groups' : ''}`,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...(wanted.loginHint === undefined ? {} : { login_hint: wanted.loginHint }),
  });
  const cookie = deps.states.keep({
    tenantId: provider.tenantId,
    issuer: provider.issuer,
    state,
    nonce,
    verifier,
    returnTo: placeInConsole(wanted.returnTo),
    toldBy,
    asksGroups,
    ...(wanted.inviteToken === undefined ? {} : { inviteToken: wanted.inviteToken }),
  });
  return { location: location.href, cookies: [cookie] };
}

/** @throws {ApiError} unavailable if the provider's discovery document names no usable authorization endpoint */
function authorizationUrl(
  deps: SignInDeps,
  provider: IdentityProvider,
  client: openid.Configuration,
  parameters: Record<string, string>,
): URL {
  try {
    return openid.buildAuthorizationUrl(client, parameters);
  } catch (error) {
    const { tenantId: tenancy, issuer } = provider;
    const reason = failureReason(error);
    deps.logger.warn({ tenancy, issuer, reason }, 'an identity provider names no usable authorization_endpoint');
    const description =
      'The identity provider does not say where people sign in. An Owner of your organisation must check its settings.';
    throw retryLater('unavailable', description, TRY_AGAIN_SECONDS);
  }
}

/**
 * The invite of a link, and where the person signs in to accept it: they must still prove that the address is theirs.
 * @throws {ApiError} not_found, conflict
 */
export async function findAcceptance(
  deps: SignInDeps,
  inviteToken: string,
): Promise<{ readonly invite: Invite; readonly provider: IdentityProvider }> {
  const hash = hashSecretToken(deps.pepper, 'invite', inviteToken);
  const now = new Date(deps.clock.now());
  const { invite, provider } = await deps.database.inTransaction('system', async (tx) => {
    const found = await findInviteByToken(tx, hash, now);
    const [trusted] = found ? await findProvidersToSignIn(tx, found.tenantId) : [];
    return { invite: found, provider: trusted };
  });
  if (!invite) throw new ApiError('not_found', 'This link was used, was withdrawn, or has expired.');
  if (!provider)
    throw new ApiError('conflict', 'Nobody can sign in to this tenancy yet: an Owner must set its identity provider.');
  return { invite, provider };
}

/**
 * Finishes a sign-in that was started in this browser: redeems the code and admits the person that the provider
 * confirms. If the provider refuses the scope `groups` to this client, the browser goes there again without it.
 * @throws {ApiError} bad_request for a callback that belongs to no sign-in of this browser, forbidden for a person who
 * is not admitted, unavailable if the provider does not answer or does not accept this service
 */
export async function endSignIn(deps: SignInDeps, callback: Callback, cookies: string | undefined): Promise<Redirect> {
  const begun = deps.states.read(cookies);
  if (!begun)
    throw new ApiError(
      'bad_request',
      'This sign-in was not started in this browser, or was started too long ago. Sign in again.',
    );
  const provider = await deps.database.inTransaction('system', (tx) => findProvider(tx, begun.tenantId));
  if (!provider?.enabled || provider.issuer !== begun.issuer) throw providerChanged();
  await requireOwnAnswer(deps, begun, callback);
  const redeemed = await redeem(deps, provider, begun, callback);
  if (!redeemed) return beginSignIn(deps, provider, { ...begun, withoutGroups: true });
  const { subject, claims } = redeemed;
  const person = { ...personOf(claims, provider), subject };
  const session = await admitPerson(deps, provider, person, begun.inviteToken);
  return { location: begun.returnTo, cookies: [session, deps.states.forget()] };
}

/** undefined if the provider refuses the scope `groups`. @throws {ApiError} */
async function redeem(deps: SignInDeps, provider: IdentityProvider, begun: SignInState, { search, tenancy }: Callback) {
  const client = await clientOf(deps, provider);
  try {
    const tokens = await openid.authorizationCodeGrant(client, new URL(callbackUrl(deps.publicUrl, tenancy) + search), {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    const more = await toldBeside(deps, client, provider, { accessToken: tokens.access_token, claims });
    return { subject: claims.sub, claims: { ...more, ...claims } };
  } catch (error) {
    if (begun.asksGroups && isScopeRefused(error)) return undefined;
    const { refusal, isUsual } = whyUnconfirmed(error);
    const { tenantId: tenancy, issuer } = provider;
    deps.logger[isUsual ? 'info' : 'warn']({ err: error, tenancy, issuer }, 'a sign-in failed');
    throw refusal;
  }
}

/** What the provider says at its userinfo endpoint of a person, or of the groups, that its ID token does not name. */
async function toldBeside(
  deps: SignInDeps,
  client: openid.Configuration,
  { claimNames: { email, groups }, tenantId: tenancy, issuer }: IdentityProvider,
  { accessToken, claims }: { readonly accessToken: string; readonly claims: openid.IDToken },
): Promise<Readonly<Record<string, unknown>>> {
  const isNamed = claims[email] !== undefined;
  if (!client.serverMetadata().userinfo_endpoint || (isNamed && claims[groups] !== undefined)) return {};
  const asking = openid.fetchUserInfo(client, accessToken, claims.sub);
  if (!isNamed) return asking;
  return asking.then(
    (told) => ({ [groups]: told[groups] }),
    (error: unknown) => {
      deps.logger.warn({ err: error, tenancy, issuer }, 'a person signs in without groups');
      return {};
    },
  );
}

function personOf(claims: Readonly<Record<string, unknown>>, { claimNames }: IdentityProvider) {
  const { email, displayName, groups } = confirmed(claims, claimNames);
  if (email !== undefined) return { email, displayName: displayName ?? email, groups };
  throw noAddress(`it names none in the claim ${claimNames.email}`);
}

function confirmed(claims: Readonly<Record<string, unknown>>, claimNames: IdentityProvider['claimNames']) {
  try {
    return readClaims(claims, claimNames);
  } catch {
    throw noAddress(`the claim ${claimNames.email_verified} is not true`);
  }
}

function noAddress(why: string): ApiError {
  const whatToDo =
    'Ask its administrator to change that. If the provider uses another claim, an Owner of your organisation must name it in the settings.';
  return new ApiError('forbidden', `The identity provider does not confirm your e-mail address: ${why}. ${whatToDo}`);
}

const SECRET_LOST =
  'This service cannot read the client secret of the identity provider of your organisation any more. An Owner of your organisation must set it again.';

/** @throws {ApiError} unavailable */
async function clientOf(deps: SignInDeps, provider: IdentityProvider): Promise<openid.Configuration> {
  const { issuer, clientId, clientSecretSealed } = provider;
  const clientSecret = clientSecretSealed === '' ? '' : deps.clientSecrets.open(clientSecretSealed, provider.tenantId);
  if (clientSecret === undefined) {
    const tenancy = provider.tenantId;
    deps.logger.error({ tenancy }, 'the client secret of an identity provider cannot be decrypted');
    throw retryLater('unavailable', SECRET_LOST, TRY_AGAIN_SECONDS);
  }
  return openProvider({ issuer, clientId, clientSecret }, deps).catch((error: unknown) => {
    deps.logger.warn({ err: error, tenancy: provider.tenantId }, 'an identity provider cannot be used');
    throw whyNotOpened(error, issuer);
  });
}

/**
 * How the answer of a provider will be told from one of another tenancy's provider. If both looked alike, the owner of one
 * could pass a browser on to the other, and would be sent the code (mix-up, RFC 9700 section 4.4).
 */
async function howTold(deps: SignInDeps, provider: IdentityProvider, client: openid.Configuration) {
  if (client.serverMetadata().authorization_response_iss_parameter_supported === true) return 'name';
  return (await isOnlyIssuer(deps, provider.issuer)) ? 'nothing' : 'path';
}

async function isOnlyIssuer({ database }: SignInDeps, issuer: string): Promise<boolean> {
  return !(await database.inTransaction('system', (tx) => hasOtherIssuer(tx, issuer)));
}

/**
 * Refuses an answer that may be another provider's, before its code is sent anywhere. What the provider says of itself by
 * now does not count: its owner may have changed that since the sign-in began.
 * @throws {ApiError} bad_request
 */
async function requireOwnAnswer(deps: SignInDeps, begun: SignInState, { search, tenancy }: Callback): Promise<void> {
  const { toldBy, issuer } = begun;
  const isAtPath = tenancy === (toldBy === 'path' ? begun.tenantId : undefined);
  const isNamed = toldBy !== 'name' || new URLSearchParams(search).get('iss') === issuer;
  if (isAtPath && isNamed && (toldBy !== 'nothing' || (await isOnlyIssuer(deps, issuer)))) return;
  throw new ApiError(
    'bad_request',
    'The answer may come from another identity provider than the one of your organisation. Sign in again.',
  );
}

function callbackUrl(publicUrl: string, tenancy: string | undefined): string {
  return `${publicUrl}/console/callback${tenancy === undefined ? '' : `/${tenancy}`}`;
}
