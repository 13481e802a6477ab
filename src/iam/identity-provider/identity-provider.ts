import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { isPrivateHost } from '../../platform/http/outbound-fetch.js';
import { plainText } from '../../platform/plain-text.js';

/** The names of the claims that tell us who somebody is. */
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
  /** Exactly as in its tokens. Its discovery document lies below it, so nobody but its host speaks for it. */
  readonly issuer: string;
  /** Of the console at the provider. */
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

/** `enterprise_sso_config` (docs/design/interface.md#shapes); `audience` and `claims` are ours. What is missing stays. */
export const enterpriseSsoSchema = z.object({
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

/** Where an issuer describes itself (OpenID Connect Discovery 1.0, section 4). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/**
 * The issuer as it is kept. @throws {ApiError} bad_request for what is no issuer, lies in a private network without
 * `allowPrivate`, or is to be described by another address than its own
 */
export function readIssuer(body: { issuer: string; config_url: string }, allowPrivate: boolean): string {
  const { issuer, config_url: configUrl } = body;
  const refuse = (why: string) => new ApiError('bad_request', `enterprise_sso_config.issuer: ${why}`);
  if (!URL.canParse(issuer)) throw refuse('must be the URL that the provider puts into its tokens as iss');
  const url = new URL(issuer);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw refuse('must begin with https://');
  if (/[?#@\s\\]/.test(issuer) || url.username !== '') throw refuse('must have no query, fragment or user');
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refuse('lies in a private network');
  if (configUrl !== '' && configUrl !== discoveryUrl(issuer))
    throw new ApiError('bad_request', `enterprise_sso_config.config_url: must be ${discoveryUrl(issuer)}, or left out`);
  return issuer;
}

/** The settings as the interface shows them; the secret never. */
export function enterpriseSsoResponse(provider: IdentityProvider | undefined): Record<string, unknown> {
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
