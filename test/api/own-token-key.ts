import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';

/** The service's own token key: what it signs is refused for what it says, and for nothing else. */
export interface OwnTokenKey {
  readonly key: KeyObject;
  /** Claims of the token that it was found by, changed; undefined takes a claim away. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
}

/** The private half of the key that signed the token. */
export async function ownTokenKey(keysDir: string, token: string): Promise<OwnTokenKey> {
  const { kid } = decodeProtectedHeader(token);
  const key = createPrivateKey(await readFile(join(keysDir, `${kid}.pem`)));
  return {
    key,
    sign(claims = {}, header = {}) {
      const all = Object.entries({ ...decodeJwt(token), ...claims }).filter(([, value]) => value !== undefined);
      const protectedHeader = { alg: 'RS256', typ: 'at+jwt', kid, ...header } as { alg: string };
      return new SignJWT(Object.fromEntries(all))
        .setProtectedHeader(protectedHeader)
        .sign(key, { crit: { exp: true } });
    },
  };
}
