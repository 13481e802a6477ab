import { x25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { fromHex, toBase64 } from '../../core/bytes.js';
import { walletAddress } from '../../platform/keys/wallet-address.js';

const X25519_BYTES = 32;
const ANY_SCALAR = new Uint8Array(X25519_BYTES).fill(1);

/** The address of a wallet key, hex of a point of secp256k1, compressed or not; undefined if it is not such a point. */
export function addressOfWalletKey(key: string): string | undefined {
  try {
    return walletAddress(secp256k1.Point.fromBytes(fromHex(key.toLowerCase())).toBytes(false).subarray(1));
  } catch {
    return undefined;
  }
}

/** True for base64 of a Curve25519 key, as other deployments use, or of a point of P-256, as our tenancies use. */
export function isTesseraKey(key: string): boolean {
  const bytes = new Uint8Array(Buffer.from(key, 'base64'));
  if (toBase64(bytes) !== key) return false;
  try {
    // Refuses points of low order, which are never a real key.
    if (bytes.length === X25519_BYTES) x25519.scalarMult(ANY_SCALAR, bytes);
    else p256.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}
