import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { Algorithm } from '../../core/cose/labels.js';
import { publicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';

/** A signer over a private key in memory: ES256 or EdDSA, whichever the key is for. */
export function nodeSigner(privateKey: KeyObject): Signer {
  const publicKey = publicJwk(createPublicKey(privateKey).export({ format: 'jwk' }));
  const ed25519 = publicKey.kty === 'OKP';
  return {
    alg: ed25519 ? Algorithm.eddsa : Algorithm.es256,
    kid: keyThumbprint(publicKey),
    publicKey,
    async sign(message) {
      const key = ed25519 ? privateKey : { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
      return new Uint8Array(sign(ed25519 ? null : 'sha256', message, key));
    },
  };
}
