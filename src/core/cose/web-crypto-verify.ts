import { VerificationError } from '../errors.js';
import { Algorithm } from './labels.js';
import type { PublicJwk } from './public-key.js';
import type { VerifySignature } from './signature.js';

const PARAMETERS = {
  [Algorithm.es256]: {
    crv: 'P-256',
    key: { name: 'ECDSA', namedCurve: 'P-256' },
    use: { name: 'ECDSA', hash: 'SHA-256' },
  },
  [Algorithm.es384]: {
    crv: 'P-384',
    key: { name: 'ECDSA', namedCurve: 'P-384' },
    use: { name: 'ECDSA', hash: 'SHA-384' },
  },
  [Algorithm.eddsa]: { crv: 'Ed25519', key: { name: 'Ed25519' }, use: { name: 'Ed25519' } },
} as const;

function importKey(key: PublicJwk, parameters: { name: string; namedCurve?: string }) {
  const { kty, crv, x } = key;
  const jwk = kty === 'EC' ? { kty, crv, x, y: key.y } : { kty, crv, x };
  return globalThis.crypto.subtle.importKey('jwk', jwk, parameters, false, ['verify']).catch(() => {
    throw new VerificationError(
      'key_invalid',
      'a key is not a point on its curve, or this platform does not know the curve',
    );
  });
}

/**
 * ES256, ES384 and EdDSA with Web Crypto: the same in Node and in a browser.
 * @throws {VerificationError} `key_invalid` when the platform refuses the key
 */
export const webCryptoVerify: VerifySignature = async (key, alg, message, signature) => {
  const parameters = PARAMETERS[alg as keyof typeof PARAMETERS];
  if (!parameters || parameters.crv !== key.crv) return false;
  const imported = await importKey(key, parameters.key);
  return globalThis.crypto.subtle.verify(parameters.use, imported, signature.slice(), message.slice());
};
