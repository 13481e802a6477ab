import * as openid from 'openid-client';
import { ApiError, retryLater } from '../../platform/errors.js';
import { certificateFault } from '../../platform/explain-failure.js';
import { OutboundRefused } from '../../platform/http/outbound-fetch.js';
import { isPlainText } from '../../platform/plain-text.js';
import { discoveryUrl } from '../identity-provider/identity-provider.js';
import { OtherIssuer } from '../identity-provider/open-provider.js';

export const TRY_AGAIN_SECONDS = 30;
const MOST_SHOWN = 300;

/** What openid-client says of an answer that is not one of OpenID: of another program, or of a server in trouble. */
const NO_ANSWERS: readonly unknown[] = [
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
];

/** Why a provider did not confirm a sign-in. */
interface Unconfirmed {
  readonly refusal: ApiError;
  /** The person, or a repeated request, is the cause: nobody has to act. */
  readonly isUsual: boolean;
}

/** @param error what openid-client threw while it redeemed a code */
export function whyUnconfirmed(error: unknown): Unconfirmed {
  // With 401, a server names the way to authenticate (RFC 6749 section 5.2).
  if (error instanceof openid.WWWAuthenticateChallengeError) return unusual(later(CLIENT_REFUSED));
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError)
    return whyRefused(error);
  if (isNoAnswer(error)) return unusual(noAnswer());
  if (!(error instanceof openid.ClientError)) return unusual(new ApiError('bad_request', NOT_CONFIRMED));
  const { message } = error.cause instanceof Error ? error.cause : error;
  const reason = error.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' ? CLOCKS : `The reason: ${shown(message)}.`;
  return unusual(new ApiError('bad_request', `${NOT_CONFIRMED} If that does not help: ${CHECK} ${reason}`));
}

const later = (description: string) => retryLater('unavailable', description, TRY_AGAIN_SECONDS);
const unusual = (refusal: ApiError): Unconfirmed => ({ refusal, isUsual: false });

/** True if the provider refuses one of the scopes that were requested. */
export function isScopeRefused(error: unknown): boolean {
  return error instanceof openid.AuthorizationResponseError && error.error === 'invalid_scope';
}

/** What a provider says with a code of OAuth (RFC 6749 sections 4.1.2.1 and 5.2). */
function whyRefused(answer: openid.AuthorizationResponseError | openid.ResponseBodyError): Unconfirmed {
  if (answer instanceof openid.ResponseBodyError && answer.status === 401) return unusual(later(CLIENT_REFUSED));
  switch (answer.error) {
    case 'access_denied':
      return { refusal: new ApiError('forbidden', DENIED), isUsual: true };
    case 'invalid_grant':
      return { refusal: new ApiError('bad_request', NOT_CONFIRMED), isUsual: true };
    case 'server_error':
    case 'temporarily_unavailable':
      return unusual(noAnswer());
    case 'invalid_client':
      return unusual(later(CLIENT_REFUSED));
    default: {
      const words = [answer.error, answer.error_description ?? ''].map(shown).filter((text) => text !== '');
      return unusual(later(`The identity provider refuses sign-ins to this service: ${words.join(', ')}. ${CHECK}`));
    }
  }
}

/** Why a provider could not be used before anybody was sent to it. @param error what `openProvider` threw */
export function whyNotOpened(error: unknown, issuer: string): ApiError {
  const reason = wrongSetting(error, issuer);
  return reason === undefined ? noAnswer() : later(`The identity provider cannot be used: ${reason}. ${CHECK}`);
}

/** undefined if the provider only does not answer. */
function wrongSetting(error: unknown, issuer: string): string | undefined {
  if (error instanceof OtherIssuer)
    return `the settings of your organisation name the issuer ${issuer}, but the provider calls itself ${shown(String(error.named))}: both must be the same, including a slash at the end`;
  const { cause } = error as { readonly cause?: unknown };
  if (cause instanceof Response && cause.status < 500)
    return `${discoveryUrl(issuer)} is not the discovery document of a provider (status ${cause.status})`;
  if (cause instanceof OutboundRefused)
    return certificateFault(cause) ?? (cause.cause === undefined ? cause.message : undefined);
  return undefined;
}

/** A text of a provider, as far as a page shows it. */
function shown(text: string): string {
  return isPlainText(text) ? text.slice(0, MOST_SHOWN).replace(/\.$/, '') : '';
}

/** The refusal of a sign-in at a provider that does not answer. */
function noAnswer(): ApiError {
  return later('The identity provider does not answer now. Try again later.');
}

function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof openid.ClientError)) return false;
  return error.cause instanceof OutboundRefused || NO_ANSWERS.includes(error.code);
}

const CHECK =
  'An Owner of your organisation must check its settings here, and the administrator of the provider those of this service there.';
const CLOCKS = 'The clocks of the identity provider and of this service differ by more than 30 seconds.';
const DENIED =
  'You cancelled this sign-in, or your organisation’s identity provider does not let you use this service. If you did not cancel it, ask its administrator for access.';
const NOT_CONFIRMED = 'The identity provider did not confirm this sign-in. Sign in again.';
const CLIENT_REFUSED =
  'The identity provider does not accept the client id or the client secret of this service; the secret may have expired. An Owner of your organisation must check its settings.';
