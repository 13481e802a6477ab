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
  [Algorithm.es512]: {
    crv: 'P-521',
    key: { name: 'ECDSA', namedCurve: 'P-521' },
    use: { name: 'ECDSA', hash: 'SHA-512' },
  },
  [Algorithm.eddsa]: { crv: 'Ed25519', key: { name: 'Ed25519' }, use: { name: 'Ed25519' } },
} as const;

/** Importing a key costs as much as a check with it, and a verifier has few keys for many signatures. */
const imported = new WeakMap<PublicJwk, ReturnType<typeof importKey>>();

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

/** A key is imported once, also one that is refused. */
function importedKey(key: PublicJwk, parameters: { name: string; namedCurve?: string }) {
  const known = imported.get(key) ?? importKey(key, parameters);
  imported.set(key, known);
  return known;
}

/**
 * ES256, ES384, ES512 and EdDSA with Web Crypto: the same in Node and in a browser.
 * @throws {VerificationError} `key_invalid` when the platform refuses the key
 */
export const webCryptoVerify: VerifySignature = async (key, alg, message, signature) => {
  const parameters = PARAMETERS[alg as keyof typeof PARAMETERS];
  if (!parameters || parameters.crv !== key.crv) return false;
  const usable = await importedKey(key, parameters.key);
  return globalThis.crypto.subtle.verify(parameters.use, usable, signature.slice(), message.slice());
};
