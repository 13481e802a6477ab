import { exportJWK, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { createProviderTokens } from '../../../src/iam/identity-provider/verify-provider-token.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';

const ISSUER = 'https://idp.example';

it('a token of a provider is accepted in its own spelling only: without padding, white space and unused bits', async () => {
  const { publicKey, privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' }];
  const metadata = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks`, authorization_endpoint: `${ISSUER}/authorize` };
  const tokens = createProviderTokens({
    clock: { now: () => Date.now() },
    fetch: async (url) => Response.json(url.endsWith('/jwks') ? { keys } : metadata),
    allowPrivate: false,
  });
  const token = await new SignJWT({ iss: ISSUER, sub: 'alice', aud: 'us', exp: Math.floor(Date.now() / 1000) + 60 })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .sign(privateKey);
  // Only its last bits differ, which the 64 bytes of the signature do not need.
  const lastBit = token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1);
  for (const other of [`${token}==`, `${token}=`, `${token} `, `${token.slice(0, -4)}\n${token.slice(-4)}`, lastBit])
    await expect(tokens.verify(other, ISSUER)).rejects.toThrow('compact');
  expect(await tokens.verify(token, ISSUER)).toMatchObject({ sub: 'alice' });
});
