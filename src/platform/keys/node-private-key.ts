import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { fromBase64 } from '../../core/bytes.js';
import type { PrivateKey } from './key-store.js';

/** Signing takes milliseconds, so it runs off the event loop. */
const signApart = promisify(sign);

/** A private half in memory, of any kind that a role may have. */
export function nodePrivateKey(key: KeyObject): PrivateKey {
  if (key.asymmetricKeyDetails?.namedCurve !== 'secp256k1') return { place: 'file', sign: signWith(key) };
  return { place: 'file', sign: signDigest(key), signMessage: signEcdsa(key) };
}

function signWith(key: KeyObject): PrivateKey['sign'] {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return async (message) => new Uint8Array(sign(null, message, key));
    case 'rsa':
      return async (message) => new Uint8Array(await signApart('sha256', message, key));
    default:
      return signEcdsa(key);
  }
}

function signEcdsa(key: KeyObject): PrivateKey['sign'] {
  const options = { key, dsaEncoding: 'ieee-p1363' } as const;
  return async (message) => new Uint8Array(sign('sha256', message, options));
}

/**
 * Node cannot sign a given digest with OpenSSL, so a library does; it is deterministic (RFC 6979). Before its first
 * signature it makes a table, which takes 0.04 to 0.06 s of the processor.
 */
function signDigest(key: KeyObject): PrivateKey['sign'] {
  const secret = fromBase64(key.export({ format: 'jwk' }).d!);
  return async (digest) => secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
}
