import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { fromHex, toBase64 } from '../../core/bytes.js';
import { walletAddress } from '../../platform/keys/wallet-address.js';

const X25519_BYTES = 32;
/** What DER has before the bytes of a key of X25519, public and private (RFC 8410 sections 4 and 7). */
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const ANY_SCALAR = Buffer.alloc(X25519_BYTES, 1);

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
    if (bytes.length === X25519_BYTES) requireX25519Key(bytes);
    else p256.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Refuses points of low order, which are never a real key: their secret is zero. Native, as it runs on the event loop. */
function requireX25519Key(bytes: Uint8Array): void {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, ANY_SCALAR]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' });
  diffieHellman({ privateKey, publicKey });
}
