import { createPublicKey, type KeyObject } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes, fromBase64 } from '../../core/bytes.js';
import { walletAddress } from './wallet-address.js';

/** The key that signs the chain's transactions. */
export interface ChainKey {
  /** EIP-55. */
  readonly address: string;
  readonly publicJwk: { readonly kty: 'EC'; readonly crv: 'secp256k1'; readonly x: string; readonly y: string };
  /**
   * Signs a hash of 32 bytes: ECDSA over secp256k1, deterministic (RFC 6979), s in the lower half (EIP-2), so that a
   * transaction signed twice is one transaction.
   */
  sign(hash: Uint8Array): { readonly r: bigint; readonly s: bigint; readonly recovery: number };
}

/** @throws {TypeError} when the key is of another curve */
export function chainKey(privateKey: KeyObject): ChainKey {
  const { crv, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  const { d } = privateKey.export({ format: 'jwk' });
  if (crv !== 'secp256k1' || !x || !y || !d) throw new TypeError('the chain key is a secp256k1 key');
  const secret = fromBase64(d);
  return {
    address: walletAddress(concatBytes(fromBase64(x), fromBase64(y))),
    publicJwk: { kty: 'EC', crv, x, y },
    sign(hash) {
      const recovered = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
      const { r, s, recovery } = secp256k1.Signature.fromBytes(recovered, 'recovered');
      return { r, s, recovery: recovery! };
    },
  };
}
