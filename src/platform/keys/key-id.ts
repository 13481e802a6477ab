import { calculateJwkThumbprint } from 'jose';
import { toBase64Url } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { publicJwk } from '../../core/cose/public-key.js';

/**
 * Returns the id of a key, base64url, from its public half: the COSE thumbprint if COSE can verify with the key,
 * otherwise the JOSE thumbprint.
 */
export async function keyIdOf(jwk: Readonly<Record<string, string>>): Promise<string> {
  const forCose = jwk['crv'] === 'Ed25519' || jwk['crv'] === 'P-256';
  return forCose ? toBase64Url(keyThumbprint(publicJwk(jwk))) : calculateJwkThumbprint(jwk);
}
