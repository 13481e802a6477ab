import { exportJWK, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { createProviderTokens } from '../../../src/iam/identity-provider/verify-provider-token.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';

const ISSUER = 'https://idp.example';
const MINUTE_MS = 60_000;

it.each([0, 9])(
  'a token that is first seen %i minutes after the keys were fetched is refused ten minutes after its provider has withdrawn the key, however long it is valid',
  async (minutes) => {
    const { publicKey, privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
    let keys = [{ ...(await exportJWK(publicKey)), kid: 'stolen', alg: 'ES256' }];
    const metadata = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks`, authorization_endpoint: `${ISSUER}/authorize` };
    let now = Date.now();
    const tokens = createProviderTokens({
      clock: { now: () => now },
      fetch: async (url) => Response.json(url.endsWith('/jwks') ? { keys } : metadata),
      allowPrivate: false,
    });
    const tokenOf = (sub: string) =>
      new SignJWT({ iss: ISSUER, sub, aud: 'us', exp: Math.floor(Date.now() / 1000) + 86_400 })
        .setProtectedHeader({ alg: 'ES256', kid: 'stolen' })
        .sign(privateKey);
    const token = await tokenOf('alice');
    expect(await tokens.verify(await tokenOf('bob'), ISSUER)).toMatchObject({ sub: 'bob' });
    keys = [];
    now += minutes * MINUTE_MS;
    expect(await tokens.verify(token, ISSUER)).toMatchObject({ sub: 'alice' });
    now += (9 - minutes) * MINUTE_MS;
    expect(await tokens.verify(token, ISSUER)).toMatchObject({ sub: 'alice' });
    now += 2 * MINUTE_MS;
    await expect(tokens.verify(token, ISSUER)).rejects.toThrow();
  },
);
