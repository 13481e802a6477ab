import { calculateJwkThumbprint } from 'jose';
import { toBase64Url } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { publicJwk } from '../../core/cose/public-key.js';

/** The id of a key by its public half, base64url: COSE's thumbprint where COSE verifies with the key, JOSE's elsewhere. */
export async function keyIdOf(jwk: Readonly<Record<string, string>>): Promise<string> {
  const forCose = jwk['crv'] === 'Ed25519' || jwk['crv'] === 'P-256';
  return forCose ? toBase64Url(keyThumbprint(publicJwk(jwk))) : calculateJwkThumbprint(jwk);
}
