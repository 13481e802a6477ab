import {
  createPrivateKey,
  createPublicKey,
  type ED25519KeyPairOptions,
  generateKeyPair,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
} from 'node:crypto';
import { promisify } from 'node:util';

/** What a new key pair is of: a curve by its name in OpenSSL or RFC 7518, or an RSA modulus in bits. */
export type KeyPairKind =
  | { readonly type: 'ec'; readonly curve: string }
  | { readonly type: 'ed25519' }
  | { readonly type: 'rsa'; readonly bits: number };

// On Node 20 a generated key shares a lock with the job that generated it. Export as JWK holds the lock; if the job is
// garbage collected meanwhile, its end waits for the same lock on the same thread, and the process stands still for ever.
// A key that is read back from its bytes shares nothing with the job.
const ENCODED: ED25519KeyPairOptions<'der', 'der'> = {
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'der' },
};

/** A new key pair, which may be exported at any time. Every key pair is made in this file. */
export function newKeyPair(kind: KeyPairKind): KeyPairKeyObjectResult {
  if (kind.type === 'ed25519') return decoded(generateKeyPairSync('ed25519', ENCODED));
  if (kind.type === 'rsa') return decoded(generateKeyPairSync('rsa', { modulusLength: kind.bits, ...ENCODED }));
  return decoded(generateKeyPairSync('ec', { namedCurve: kind.curve, ...ENCODED }));
}

/** The same without holding requests up: to find the primes of an RSA pair takes a tenth of a second, or several. */
export async function newKeyPairApart(kind: KeyPairKind): Promise<KeyPairKeyObjectResult> {
  if (kind.type !== 'rsa') return newKeyPair(kind);
  return decoded(await promisify(generateKeyPair)('rsa', { modulusLength: kind.bits, ...ENCODED }));
}

function decoded(pair: Record<'publicKey' | 'privateKey', Buffer>): KeyPairKeyObjectResult {
  return {
    publicKey: createPublicKey({ key: pair.publicKey, type: 'spki', format: 'der' }),
    privateKey: createPrivateKey({ key: pair.privateKey, type: 'pkcs8', format: 'der' }),
  };
}
