import { exportJWK, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createProviderTokens } from '../../../src/iam/identity-provider/verify-provider-token.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';

const ISSUER = 'https://idp.example';
const metadata = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks`, authorization_endpoint: `${ISSUER}/authorize` };

const pair = () => newKeyPair({ type: 'ec', curve: 'P-256' });
type Pair = ReturnType<typeof pair>;
const published = async ({ publicKey }: Pair, more: object = {}) => ({
  ...(await exportJWK(publicKey)),
  kid: 'one',
  alg: 'ES256',
  ...more,
});
const tokenBy = ({ privateKey }: Pair, claims: object = {}) =>
  new SignJWT({ iss: ISSUER, sub: 'alice', aud: 'us', exp: Math.floor(Date.now() / 1000) + 3600, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .sign(privateKey);
const tokensWith = (keys: readonly object[]) =>
  createProviderTokens({
    clock: { now: () => Date.now() },
    fetch: async (url) => Response.json(url.endsWith('/jwks') ? { keys } : metadata),
    allowPrivate: false,
  });

describe('a provider that publishes several keys under one id', () => {
  const [first, second, stranger, encrypting] = [pair(), pair(), pair(), pair()] as const;
  const keys = async () => [
    await published(first),
    await published(encrypting, { use: 'enc' }),
    await published(second),
  ];

  it.each([
    ['first', first],
    ['second', second],
  ])('may sign tokens with the %s of them', async (_, by) => {
    const tokens = tokensWith(await keys());
    expect(await tokens.verify(await tokenBy(by), ISSUER)).toMatchObject({ sub: 'alice' });
  });

  it('signs no token with another key, with one that is not for signatures, or after the token expired', async () => {
    const tokens = tokensWith(await keys());
    for (const token of [await tokenBy(stranger), await tokenBy(encrypting), await tokenBy(second, { exp: 1 })])
      await expect(tokens.verify(token, ISSUER)).rejects.toThrow();
  });

  it('has a token tried with eight of them', async () => {
    const others = await Promise.all(Array.from({ length: 8 }, () => published(pair())));
    const last = await published(first);
    const token = await tokenBy(first);
    expect(await tokensWith([...others.slice(1), last]).verify(token, ISSUER)).toMatchObject({ sub: 'alice' });
    await expect(tokensWith([...others, last]).verify(token, ISSUER)).rejects.toThrow();
  });
});
