import { ApiError } from '../../platform/errors.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import type { Tx } from '../../platform/postgres/database.js';
import { deleteSessionsOfTenancy } from '../sessions/session-store.js';
import { tokenIssuer } from '../token-issuer.js';
import {
  type ClaimNames,
  discoveryUrl,
  type EnterpriseSsoBody,
  type IdentityProvider,
  isAsShown,
  readIssuer,
  STANDARD_CLAIMS,
} from './identity-provider.js';
import { findProvider, saveProvider } from './identity-provider-store.js';

/**
 * Changes how the people of a tenancy sign in; missing settings stay unchanged. A secret is never kept for another
 * issuer, and with a change all sessions end, because different people may now be allowed to sign in. undefined if
 * nothing was stored before and nothing is set.
 * @throws {ApiError} bad_request naming the setting
 */
export async function changeProvider(
  tx: Tx,
  deps: { readonly clientSecrets: SealedBox; readonly allowPrivate: boolean; readonly publicUrl: string },
  tenantId: string,
  wanted: { readonly config: EnterpriseSsoBody; readonly enabled: boolean | undefined },
): Promise<IdentityProvider | undefined> {
  const { config } = wanted;
  const known = await findProvider(tx, tenantId);
  if (isAsShown(wanted, known)) return known;
  const issuer = requireIssuer(deps, config, known);
  const clientId = config.client_id ?? known?.clientId ?? '';
  if (clientId === '') throw missing('client_id');
  const audienceFollows = config.audience ?? (config.client_id ? undefined : known?.audience);
  const provider: IdentityProvider = {
    tenantId,
    enabled: wanted.enabled ?? known?.enabled ?? true,
    issuer,
    clientId,
    clientSecretSealed: secretOf(deps, config, known, { tenantId, issuer }),
    audience: audienceFollows || clientId,
    claimNames: claimNamesOf(config, known?.claimNames ?? STANDARD_CLAIMS),
  };
  await saveProvider(tx, provider);
  await deleteSessionsOfTenancy(tx, tenantId);
  return provider;
}

function requireIssuer(
  deps: { readonly allowPrivate: boolean; readonly publicUrl: string },
  config: EnterpriseSsoBody,
  known: IdentityProvider | undefined,
): string {
  const configUrl = config.config_url ?? '';
  // The URL does not tell whether the issuer ends with a slash; the known issuer does.
  const isKnown = known !== undefined && configUrl === discoveryUrl(known.issuer);
  const named = config.issuer || (isKnown ? known.issuer : issuerDescribedAt(configUrl)) || known?.issuer;
  if (named === undefined || named === '') throw missing('issuer');
  if (named === tokenIssuer(deps.publicUrl))
    throw new ApiError(
      'bad_request',
      'enterprise_sso_config.issuer: is this service, which issues tokens of applications',
    );
  return readIssuer({ issuer: named, config_url: configUrl }, deps.allowPrivate);
}

/** The issuer whose discovery document has this URL, without a trailing slash. */
function issuerDescribedAt(configUrl: string): string | undefined {
  const end = discoveryUrl('');
  return configUrl.endsWith(end) ? configUrl.slice(0, -end.length) : undefined;
}

function secretOf(
  deps: { readonly clientSecrets: SealedBox },
  config: EnterpriseSsoBody,
  known: IdentityProvider | undefined,
  place: { readonly tenantId: string; readonly issuer: string },
): string {
  if (config.client_secret) return deps.clientSecrets.seal(config.client_secret, place.tenantId);
  return known?.issuer === place.issuer ? known.clientSecretSealed : '';
}

function claimNamesOf({ claims }: EnterpriseSsoBody, known: ClaimNames): ClaimNames {
  return {
    email: claims?.email ?? known.email,
    email_verified: claims?.email_verified ?? known.email_verified,
    display_name: claims?.display_name ?? known.display_name,
    groups: claims?.groups ?? known.groups,
  };
}

function missing(name: string): ApiError {
  return new ApiError('bad_request', `enterprise_sso_config.${name}: is missing`);
}
