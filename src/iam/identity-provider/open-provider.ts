import * as openid from 'openid-client';
import type { OutboundFetch } from '../../platform/http/outbound-fetch.js';

/** A client of a provider, and whether it authenticates with a secret. */
interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Empty for a public client. */
  readonly clientSecret: string;
}

/** The discovery document below an issuer's URL is of another issuer, perhaps only by a slash at its end. */
export class OtherIssuer extends Error {
  override readonly name = 'OtherIssuer';

  /** @param named the issuer in the document */
  constructor(
    readonly named: unknown,
    options?: { readonly cause: unknown },
  ) {
    super('the discovery document names another issuer', options);
  }
}

/**
 * Reads the provider's discovery document, which must name the issuer, and returns a client of it. ID tokens are
 * verified by signature even though they arrive over TLS.
 * @throws {OtherIssuer}
 * @throws {Error} if the provider's response is not valid
 */
export async function openProvider(
  provider: ProviderClient,
  rules: { readonly fetch: OutboundFetch; readonly allowPrivate: boolean },
): Promise<openid.Configuration> {
  const { issuer, clientId, clientSecret } = provider;
  const discovered = openid.discovery(
    new URL(issuer),
    clientId,
    clientSecret === '' ? undefined : clientSecret,
    clientSecret === '' ? openid.None() : bySecret(clientSecret),
    {
      [openid.customFetch]: (url, { method, headers, body }) =>
        rules.fetch(url, { method, headers, body: body === undefined || body === null ? undefined : String(body) }),
      execute: [openid.enableNonRepudiationChecks, ...(rules.allowPrivate ? [openid.allowInsecureRequests] : [])],
    },
  );
  const configuration = await discovered.catch(refuseOtherIssuer);
  const { issuer: named } = configuration.serverMetadata();
  // The library takes one with another slash at its end for the same.
  if (named !== issuer) throw new OtherIssuer(named);
  return configuration;
}

function refuseOtherIssuer(error: unknown): never {
  const isOther = error instanceof openid.ClientError && error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
  const { body } = (isOther ? error.cause : {}) as { readonly body?: { readonly issuer?: unknown } };
  throw body ? new OtherIssuer(body.issuer, { cause: error }) : error;
}

/** Default registration of a client (OpenID Connect Registration 1.0, section 2): HTTP Basic. */
function bySecret(secret: string): openid.ClientAuth {
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const basic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
    const authenticate = basic ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret);
    authenticate(server, ...request);
  };
}
