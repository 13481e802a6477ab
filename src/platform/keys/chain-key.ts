import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes, fromBase64 } from '../../core/bytes.js';
import type { PrivateKey } from './key-store.js';
import { walletAddress } from './wallet-address.js';

/** The key that signs the chain's transactions. */
export interface ChainKey {
  /** EIP-55. */
  readonly address: string;
  readonly publicJwk: { readonly kty: 'EC'; readonly crv: 'secp256k1'; readonly x: string; readonly y: string };
  /** Signs a hash of 32 bytes: ECDSA over secp256k1, s in the lower half (EIP-2). From a file it is deterministic (RFC 6979). */
  sign(hash: Uint8Array): Promise<{ readonly r: bigint; readonly s: bigint; readonly recovery: number }>;
}

/** @throws {TypeError} when the key is of another curve */
export function chainKey(jwk: Readonly<Record<string, string>>, key: Pick<PrivateKey, 'sign'>): ChainKey {
  const { crv, x, y } = jwk;
  if (crv !== 'secp256k1' || !x || !y) throw new TypeError('the chain key is a secp256k1 key');
  return {
    address: walletAddress(concatBytes(fromBase64(x), fromBase64(y))),
    publicJwk: { kty: 'EC', crv, x, y },
    async sign(hash) {
      const { r, s, recovery } = secp256k1.Signature.fromBytes(await key.sign(hash), 'recovered');
      return { r, s, recovery: recovery! };
    },
  };
}

/** Returns the EIP-55 address of the key that signed a hash; undefined if the signature is of no key. */
export function recoverAddress(
  hash: Uint8Array,
  { r, s, recovery }: Awaited<ReturnType<ChainKey['sign']>>,
): string | undefined {
  try {
    const point = new secp256k1.Signature(r, s, recovery).recoverPublicKey(hash);
    return walletAddress(point.toBytes(false).subarray(1));
  } catch {
    return undefined;
  }
}
