import { createPublicKey, type KeyObject } from 'node:crypto';
import { Algorithm } from '../../core/cose/algorithms.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { type PublicJwk, publicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import type { PrivateKey } from './key-store.js';
import { nodePrivateKey } from './node-private-key.js';

/** A signer of evidence over a private half in any key store: ES256 or EdDSA, according to the key. */
export function evidenceSigner(publicKey: PublicJwk, key: Pick<PrivateKey, 'sign'>): Signer {
  return {
    alg: publicKey.kty === 'OKP' ? Algorithm.eddsa : Algorithm.es256,
    kid: keyThumbprint(publicKey),
    publicKey,
    sign: (message) => key.sign(message),
  };
}

/** A signer over a private key in memory. */
export function nodeSigner(privateKey: KeyObject): Signer {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return evidenceSigner(publicJwk(jwk), nodePrivateKey(privateKey));
}
