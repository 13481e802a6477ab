import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { fromBase64 } from '../../core/bytes.js';
import type { PrivateKey } from './key-store.js';

/** Signing takes milliseconds, so it runs off the event loop. */
const signApart = promisify(sign);

/** A private half in memory, of any kind that a role may have. */
export function nodePrivateKey(key: KeyObject): PrivateKey {
  return { place: 'file', sign: signWith(key) };
}

function signWith(key: KeyObject): PrivateKey['sign'] {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return async (message) => new Uint8Array(sign(null, message, key));
    case 'rsa':
      return async (message) => new Uint8Array(await signApart('sha256', message, key));
    default:
      return key.asymmetricKeyDetails?.namedCurve === 'secp256k1' ? signDigest(key) : signEcdsa(key);
  }
}

function signEcdsa(key: KeyObject): PrivateKey['sign'] {
  const options = { key, dsaEncoding: 'ieee-p1363' } as const;
  return async (message) => new Uint8Array(sign('sha256', message, options));
}

/** Node cannot sign a given digest with OpenSSL, so a library does; it is deterministic (RFC 6979). */
function signDigest(key: KeyObject): PrivateKey['sign'] {
  const secret = fromBase64(key.export({ format: 'jwk' }).d!);
  return async (digest) => secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
}
