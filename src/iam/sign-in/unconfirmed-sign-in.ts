import * as openid from 'openid-client';
import { ApiError, retryLater } from '../../platform/errors.js';
import { OutboundRefused } from '../../platform/http/outbound-fetch.js';

export const TRY_AGAIN_SECONDS = 30;

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
  if (error instanceof openid.AuthorizationResponseError && error.error === 'access_denied')
    return { refusal: new ApiError('forbidden', DENIED), isUsual: true };
  if (error instanceof openid.ResponseBodyError && error.error === 'invalid_grant')
    return { refusal: new ApiError('bad_request', NOT_CONFIRMED), isUsual: true };
  // With 401, a server names the way to authenticate (RFC 6749 section 5.2).
  if (error instanceof openid.ResponseBodyError || error instanceof openid.WWWAuthenticateChallengeError)
    return { refusal: retryLater('unavailable', CLIENT_REFUSED, TRY_AGAIN_SECONDS), isUsual: false };
  if (isNoAnswer(error)) return { refusal: noAnswer(), isUsual: false };
  return { refusal: new ApiError('bad_request', NOT_CONFIRMED), isUsual: false };
}

/** The refusal of a sign-in at a provider that does not answer. */
export function noAnswer(): ApiError {
  return retryLater('unavailable', 'The identity provider does not answer now. Try again later.', TRY_AGAIN_SECONDS);
}

function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof openid.ClientError)) return false;
  return error.cause instanceof OutboundRefused || NO_ANSWERS.includes(error.code);
}

const DENIED =
  'You cancelled this sign-in, or your organisation’s identity provider does not let you use this service. If you did not cancel it, ask its administrator for access.';
const NOT_CONFIRMED = 'The identity provider did not confirm this sign-in. Sign in again.';
const CLIENT_REFUSED =
  'The identity provider does not accept the client id or the client secret of this service; the secret may have expired. An Owner of your organisation must check its settings.';
