import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { isPrivateHost } from '../../platform/http/outbound-fetch.js';
import { plainText } from '../../platform/plain-text.js';

/** The names of the claims that identify a person. */
export interface ClaimNames {
  readonly email: string;
  readonly email_verified: string;
  readonly display_name: string;
  readonly groups: string;
}

/** The OpenID provider with which the people of a tenancy sign in. */
export interface IdentityProvider {
  readonly tenantId: string;
  readonly enabled: boolean;
  /** Exactly as in its tokens. Its discovery document is below this URL, so only the issuer's host can publish it. */
  readonly issuer: string;
  /** Client id of the console at the provider. */
  readonly clientId: string;
  /** Sealed; empty for a public client. */
  readonly clientSecretSealed: string;
  /** `aud` of the tokens that are sent to our interface. */
  readonly audience: string;
  readonly claimNames: ClaimNames;
}

export const STANDARD_CLAIMS: ClaimNames = {
  email: 'email',
  email_verified: 'email_verified',
  display_name: 'name',
  groups: 'groups',
};

const claimName = plainText(128).min(1);
const settingText = plainText(1024);

/**
 * `enterprise_sso_config` (docs/design/interface.md#shapes); `audience` and `claims` are extensions. Missing settings
 * stay unchanged.
 */
export const enterpriseSsoSchema = z.object({
  policy_id: z.literal('', { error: 'cannot be set: leave it out' }).nullish(),
  config_url: settingText.nullish(),
  issuer: settingText.nullish(),
  client_id: settingText.nullish(),
  client_secret: settingText.nullish(),
  audience: settingText.nullish(),
  claims: z
    .object({
      email: claimName.optional(),
      email_verified: claimName.optional(),
      display_name: claimName.optional(),
      groups: claimName.optional(),
    })
    .nullish(),
});
export type EnterpriseSsoBody = z.output<typeof enterpriseSsoSchema>;

/** URL of an issuer's discovery document (OpenID Connect Discovery 1.0, section 4). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/**
 * The issuer in its stored form. @throws {ApiError} bad_request if it is not an issuer, is in a private network without
 * `allowPrivate`, or names another discovery URL than its own
 */
export function readIssuer(body: { issuer: string; config_url: string }, allowPrivate: boolean): string {
  const { issuer, config_url: configUrl } = body;
  const refuse = (why: string) => new ApiError('bad_request', `enterprise_sso_config.issuer: ${why}`);
  if (!URL.canParse(issuer)) throw refuse('must be the URL that the provider puts into its tokens as iss');
  const url = new URL(issuer);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw refuse('must begin with https://');
  if (/[?#@\s\\]/.test(issuer) || url.username !== '') throw refuse('must have no query, fragment or user');
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refuse('is in a private network');
  if (configUrl !== '' && configUrl !== discoveryUrl(issuer))
    throw new ApiError('bad_request', `enterprise_sso_config.config_url: must be ${discoveryUrl(issuer)}, or left out`);
  return issuer;
}

/** The settings in the form of the interface, without the secret. */
export function enterpriseSsoResponse(provider: IdentityProvider | undefined) {
  return {
    enterprise_sso_enabled: provider?.enabled ?? false,
    enterprise_sso_config: {
      policy_id: '',
      config_url: provider ? discoveryUrl(provider.issuer) : '',
      issuer: provider?.issuer ?? '',
      client_id: provider?.clientId ?? '',
      client_secret: '',
      audience: provider?.audience ?? '',
      claims: provider?.claimNames ?? STANDARD_CLAIMS,
    },
  };
}

/** Whether the settings say what a response says: a record that was read can be sent back, and changes nothing. */
export function isAsShown(
  wanted: { readonly config: EnterpriseSsoBody; readonly enabled: boolean | undefined },
  known: IdentityProvider | undefined,
): boolean {
  const shown = enterpriseSsoResponse(known);
  const { claims = {}, ...settings } = wanted.config;
  const { claims: claimNames, ...shownSettings } = shown.enterprise_sso_config;
  return (
    (wanted.enabled ?? shown.enterprise_sso_enabled) === shown.enterprise_sso_enabled &&
    isPartOf(settings, shownSettings) &&
    isPartOf(claims ?? {}, { ...claimNames })
  );
}

function isPartOf(given: Record<string, unknown>, whole: Record<string, unknown>): boolean {
  return Object.entries(given).every(([name, value]) => (value ?? whole[name]) === whole[name]);
}
