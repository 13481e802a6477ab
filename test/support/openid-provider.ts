import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { lendKeyPairs } from './lent-key-pairs.js';

/** Somebody who can sign in, by the name that he types. */
export interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who is there; a test may add to it. */
  readonly accounts: Map<string, Account>;
  /** A token under the provider's own key, as it issues them to other programs; `secondsLeft` says when it expires. */
  token(claims: JWTPayload, header?: { readonly secondsLeft?: number }): Promise<string>;
  close(): Promise<void>;
}

/** A real OpenID provider, with one client: the console of a service. */
export async function startOpenidProvider(callbacks: readonly string[]): Promise<TestProvider> {
  const keyPairs = lendKeyPairs();
  const { privateKey } = await keyPairs.newKeyPair({ type: 'rsa', bits: 2048 });
  const key = { ...(await exportJWK(privateKey)), kid: 'of-the-provider', alg: 'RS256', use: 'sig' };
  const accounts = new Map<string, Account>();
  const { server, issuer } = await listening();
  const clientId = 'console';
  const clientSecret = 'a secret of the console at its provider';
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...callbacks],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [key as never] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    cookies: { keys: ['a key of the cookies'] },
    findAccount: (_context, id) => {
      const account = accounts.get(id);
      return account && { accountId: id, claims: async () => ({ sub: id, ...account }) };
    },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    token: (claims, { secondsLeft = 600, ...header } = {}) =>
      new SignJWT({ iss: issuer, aud: clientId, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
        .setIssuedAt()
        .setExpirationTime(new Date(Date.now() + secondsLeft * 1000))
        .sign(privateKey),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
        keyPairs.giveBack();
      }),
  };
}

function listening(): Promise<{ server: Server; issuer: string }> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ server, issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    });
  });
}
