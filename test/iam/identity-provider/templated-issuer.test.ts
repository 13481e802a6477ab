import { exportJWK, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { createProviderTokens } from '../../../src/iam/identity-provider/verify-provider-token.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';

it.each([
  ['https://login.microsoftonline.com/common/v2.0', 'https://login.microsoftonline.com/{tenantid}/v2.0'],
  ['https://acme.b2clogin.com/acme/v2.0', 'https://login.microsoftonline.com/another/v2.0'],
])('the keys of %s are not used, because its document names %s as the issuer', async (issuer, described) => {
  const { publicKey, privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' }];
  const metadata = { issuer: described, jwks_uri: `${issuer}/jwks`, authorization_endpoint: `${issuer}/authorize` };
  const tokens = createProviderTokens({
    clock: { now: () => Date.now() },
    fetch: async (url) => Response.json(url.endsWith('/jwks') ? { keys } : metadata),
    allowPrivate: false,
  });
  const token = await new SignJWT({ iss: issuer, sub: 'alice', aud: 'us' })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .setExpirationTime('1h')
    .sign(privateKey);
  await expect(tokens.verify(token, issuer)).rejects.toMatchObject({
    cause: { message: 'the discovery document names another issuer' },
  });
});
